import { resolve } from "node:path";
import { z } from "zod";
import { rewardTerm, param, type MethodContext } from "../../../core/declaration.ts";
import { refers, template } from "../../../core/references.ts";
import { fill } from "../../../core/templates.ts";
import { isBroken, type Criterion, type JudgedCriterion } from "../../../../shared/rollouts/criteria.ts";
import { rubricOf, type RubricCriterion } from "../../../core/rubrics.ts";
import type { TermValue } from "../../../core/slots/reward.ts";
import type { Batch } from "../../../core/rollouts.ts";
import type { RewardTerm } from "../../../core/reward.ts";
import { TextPattern } from "../../../lib/texts/textPattern.ts";
import { failure, value } from "../perRow.ts";
import { UserReward } from "../own/userReward.ts";
import { keptCriteria } from "./dropout.ts";
import { modelParam, serverParam, tellerOf } from "../judges/teller.ts";
import type { Verdict } from "../judges/verdict.ts";
import { programJudge, tellerJudge, type Judge, type Question } from "./judges.ts";

const judgeParam = z.union([
  serverParam(64),
  modelParam(64),
  param(
    z.strictObject({
      file: param(
        refers({ to: "file", ends: [".ts", ".mts", ".js", ".mjs"] }),
        "A TypeScript or JavaScript file, relative to the config.",
      ),
      export: param(
        z.string().default("score"),
        "Its function, which returns a number above 0 if the criterion is met.",
      ),
      timeout: param(z.number().positive().optional(), "Seconds for one criterion; default: reward.timeout."),
    }),
    "A function that is given the criterion as `task.data.criterion`, `{ text, points }`.",
  ),
]);

const params = z.object({
  field: param(
    refers({ to: "field" }).default("rubric"),
    "Field of the task's data: a list of criteria, texts or `{ criterion, points, name, veto, regex }`. Charts call it by its `name`; if one with `veto` is broken, the others earn nothing.",
  ),
  judge: param(
    judgeParam.optional(),
    "What decides whether a criterion is met: a server (`{ url, model }`), a model of the run (`{ of }`) or a program (`{ file }`). Criteria with a `regex` need none.",
  ),
  ask: param(
    template("prompt", "response", "criterion").default(
      "Question: {prompt}\n\nAnswer: {response}\n\nDoes the answer meet this criterion? {criterion}\nSay yes or no: ",
    ),
    "Template of the question about each criterion: `{prompt}`, `{response}`, `{criterion}`.",
  ),
  floor: param(
    z.number().nullable().default(null),
    "Lower bound on the score; null: as low as criteria with negative points make it.",
  ),
  drop: param(
    z.number().min(0).lt(1).default(0),
    "Share of a task's criteria that do not count at a step, drawn for its whole group, so that the policy never learns one rubric by heart; 0.3 to 0.5 in the source. Three stay, those with `veto` too, and held-out answers are scored by all.",
  ),
});
type Params = z.output<typeof params>;

interface Made {
  readonly judge: Judge | undefined;
  readonly program?: UserReward;
}

function made({ judge }: Params, context: MethodContext): Made {
  if (judge === undefined) return { judge: undefined };
  if (!("file" in judge)) return { judge: tellerJudge(tellerOf(judge)) };
  const program = new UserReward({
    file: resolve(context.folder, judge.file),
    export: judge.export,
    term: context.name ?? "rubric",
    args: {},
    timeout: judge.timeout ?? context.timeout ?? 2,
  });
  return { judge: programJudge(program), program };
}

/** Σ of the points that are met / Σ of the points above 0; at most 0 where one that may veto is broken. */
export function rubricScore(criteria: readonly Criterion[], met: readonly (0 | 1)[]): number {
  const most = criteria.reduce((sum, { points }) => sum + Math.max(0, points), 0);
  const score = criteria.reduce((sum, { points }, k) => sum + met[k]! * points, 0) / most;
  const vetoed = criteria.some((one, k) => one.veto === true && isBroken({ ...one, met: met[k]! }));
  return vetoed ? Math.min(0, score) : score;
}

/** Whether a criterion that needs no judge is met, the worse of both where that takes too long; undefined: it needs one. */
function found({ regex, points }: RubricCriterion, response: string): Verdict | undefined {
  if (regex === undefined) return undefined;
  try {
    return (new TextPattern(regex, "u").test(response) ?? points < 0) ? 1 : 0;
  } catch (error) {
    return `the criterion's regex ${JSON.stringify(regex)} is not valid: ${String(error)}`;
  }
}

function scored(
  criteria: readonly Criterion[],
  verdicts: readonly Verdict[],
  field: string,
  floor: number,
): TermValue {
  if (criteria.length === 0) return failure(`the task's field \`${field}\` is not a list of criteria`);
  if (criteria.every(({ points }) => points <= 0))
    return failure(`no criterion in \`${field}\` has points above 0`);
  const unknown = verdicts.find((one) => typeof one === "string");
  const met = verdicts.map((one) => (one === 1 ? 1 : 0));
  const result =
    unknown === undefined ? value(Math.max(floor, rubricScore(criteria, met))) : failure(unknown);
  return { ...result, criteria: criteria.map((one, k) => withVerdict(one, verdicts[k]!)) };
}

const withVerdict = ({ name, text, points, veto }: Criterion, verdict: Verdict): JudgedCriterion => ({
  ...(name !== undefined && { name }),
  text,
  points,
  ...(veto === true && { veto }),
  met: typeof verdict === "string" ? null : verdict,
});

async function verdictsOf(
  batch: Batch,
  rubrics: readonly (readonly RubricCriterion[])[],
  { ask }: Params,
  askJudge: (questions: readonly Question[]) => Promise<readonly Verdict[]>,
): Promise<Verdict[][]> {
  const open: (Question & { readonly k: number })[] = [];
  const verdicts = rubrics.map((criteria, row) =>
    criteria.map((criterion, k): Verdict => {
      const { response, task } = batch.records[row]!;
      const own = found(criterion, response);
      const words = { prompt: task.prompt, response, criterion: criterion.text };
      if (own === undefined) open.push({ row, k, criterion, text: fill(ask, words) });
      return own ?? "";
    }),
  );
  const said = open.length === 0 ? [] : await askJudge(open);
  open.forEach(({ row, k }, i) => (verdicts[row]![k] = said[i] ?? "the judge gave no answer"));
  return verdicts;
}

export const rubric = rewardTerm({
  name: "rubric",
  summary:
    "Criteria of the task's rubric, each with points, are decided one by one: by a model, a server, a program, or the criterion's own regular expression. A verdict that the judge leaves open is an error; it never counts as a criterion that is not met. Each verdict is recorded with the rollout.",
  formula:
    "r = Σ_k b_k w_k / Σ_{w_k > 0} w_k, b_k ∈ {0, 1}, over the criteria that `drop` leaves; at most 0 if a criterion with `veto` is broken: missed, or met with w_k < 0",
  sources: [
    "Breaking the Exploration Bottleneck: Rubric-Scaffolded Reinforcement Learning for General LLM Reasoning",
    "HealthBench: Evaluating Large Language Models Towards Improved Human Health",
    "Reinforcement Learning with Rubric Anchors",
    "Rubric Dropout: A Simple Way to Mitigate Reward Hacking in Rubric-as-Reward RL",
  ],
  judges: "answer",
  params,
  create: (options, outside): RewardTerm => {
    const { judge, program } = made(options, outside);
    const floor = options.floor ?? Number.NEGATIVE_INFINITY;
    return {
      async score(batch, context) {
        const rubrics = batch.records.map((record) =>
          keptCriteria(rubricOf(record.task, options.field), record, {
            share: options.drop,
            step: context.clock.step,
          }),
        );
        const verdicts = await verdictsOf(batch, rubrics, options, async (questions) =>
          judge === undefined
            ? questions.map(() => "the criterion has no `regex`, and the term no `judge`")
            : judge(questions, batch, context),
        );
        return rubrics.map((criteria, row) => scored(criteria, verdicts[row]!, options.field, floor));
      },
      ...(program && { prepare: () => program.prepare(), close: () => program.close() }),
    };
  },
});
