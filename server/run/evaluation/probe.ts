/** What the reward gives answers that cost no thought: nothing at all, the prompt, the reference answer, filler. */
import { meanOrNull } from "../../../shared/lib/mean.ts";
import type { GoldForm } from "../../analysis/rewardChecks/forms/goldForms.ts";
import { valueAt } from "../../core/schedule.ts";
import type { StageBody } from "../../core/config/resolved.ts";
import { rewardsWrongAnswers, rolesOf } from "../../rules/reward/termRoles.ts";
import { RewardChain, rowValue } from "../../algorithm/rewards/rewards.ts";
import { batchOfSamples, writtenRow, type SampledRow } from "../../core/rows/sampledRows.ts";
import type { Clock } from "../../core/basics.ts";
import type { Batch, RolloutRecord } from "../../core/rollouts.ts";
import type { Tokenizer } from "../../core/policy.ts";
import type { RewardColumn } from "../../core/reward.ts";
import type { CreateContext } from "../../core/declaration.ts";

type ProbeName = "empty" | "prompt" | "gold" | "filler";

/** One answer, the same to each of a few tasks; numbers are means over those to which something applies. */
export interface EvaluationProbe {
  readonly probe: ProbeName;
  /** As given to the first of the tasks. */
  readonly response: string;
  /** By term, before its weight; null: it does not apply, or failed. */
  readonly terms: Readonly<Record<string, number | null>>;
  /** Combined, with the weights of the stage's last step. */
  readonly reward: number | null;
}

const filler = "Let me think about this step by step.";

type Response = (record: RolloutRecord, form: GoldForm | undefined) => string | undefined;
const responses: Readonly<Record<ProbeName, Response>> = {
  empty: () => "",
  prompt: ({ prompt }) => prompt,
  gold: ({ task }, form) => form?.of(task) ?? task.solution ?? task.answer,
  filler: () => filler,
};
const names: readonly ProbeName[] = ["empty", "prompt", "gold", "filler"];

interface ProbeBatch {
  readonly batch: Batch;
  /** Of each row. */
  readonly probes: readonly ProbeName[];
}

/**
 * A row for each task that was rolled out and each answer; tasks without a reference answer have no row of it.
 * @param form in which the reward wants a reference answer; undefined: as the data has it
 */
export function probeBatch({ records }: Batch, tokenizer: Tokenizer, form: GoldForm | undefined): ProbeBatch {
  const byTask = [...new Map(records.map((record) => [record.task.id, record])).values()];
  const made = byTask.flatMap((record) =>
    names.flatMap((probe, index) => {
      const response = responses[probe](record, form);
      return response === undefined ? [] : [{ probe, row: rowOf(record, index, response, tokenizer) }];
    }),
  );
  return { batch: batchOfSamples(made.map(({ row }) => row)), probes: made.map(({ probe }) => probe) };
}

function rowOf(
  { task, arm, group, prompt, source, use }: RolloutRecord,
  index: number,
  response: string,
  tokenizer: Tokenizer,
): SampledRow {
  const tokens = Int32Array.from([...tokenizer.encode(response), tokenizer.eos]);
  const record = { task, arm, group, index, prompt, response, finish: "stop", source, use } as const;
  return writtenRow(record, tokens, tokenizer.encode(prompt));
}

const mean = (values: readonly number[]): number | null => meanOrNull(values.filter(Number.isFinite));

/** @param columns one a term, in the config's order */
export function probed(
  { batch, probes }: ProbeBatch,
  columns: readonly RewardColumn[],
  body: StageBody,
  context: CreateContext,
  clock: Clock,
): EvaluationProbe[] {
  const { combined } = new RewardChain(body.reward, context).rewards(columns, batch, clock);
  return names.flatMap((probe) => {
    const rows = [...probes.keys()].filter((row) => probes[row] === probe);
    if (rows.length === 0) return [];
    const total = rows.map((row) => (combined.errored[row] === 1 ? Number.NaN : combined.total[row]!));
    return [
      {
        probe,
        response: batch.records[rows[0]!]!.response,
        terms: Object.fromEntries(
          columns.map((column) => [column.name, mean(rows.map((row) => rowValue(column, row)))]),
        ),
        reward: mean(total),
      },
    ];
  });
}

const round = (value: number): number => Number(value.toPrecision(3));

/** Sentences about an empty answer that is rewarded; none where the policy cannot write one. */
export function emptyAnswerWarnings(
  probes: readonly EvaluationProbe[],
  body: StageBody,
  clock: Clock,
): string[] {
  const [empty, gold] = (["empty", "gold"] as const).map((name) =>
    probes.find(({ probe }) => probe === name),
  );
  if (empty === undefined || body.rollout.min_tokens > 0) return [];
  const roles = body.tasks.map(({ name }) => rolesOf(body.reward, name));
  const isAuxiliary = new Set(
    roles
      .filter((each) => rewardsWrongAnswers(body.reward, each))
      .flatMap(({ auxiliary }) => auxiliary.map(({ name }) => name)),
  );
  const isAnswer = new Set(roles.flatMap(({ answers }) => answers.map(({ name }) => name)));
  const warnings = body.reward.terms.flatMap(({ name, weight }) => {
    const [pay, times] = [empty.terms[name] ?? 0, valueAt(weight, clock)];
    const most = Math.max(...probes.map(({ terms }) => (terms[name] ?? -Infinity) * times));
    if (isAuxiliary.has(name) && pay * times > 0)
      return [
        `\`${name}\` rewards an empty answer with ${round(pay)} × ${round(times)}, though it is never right: reward it only where the answer is right (\`reward.combine: product\`, or return \`null\` elsewhere), or set \`rollout.min_tokens\`.`,
      ];
    if (isAnswer.has(name) && pay * times > 0 && pay * times >= most)
      return [
        `\`${name}\` rewards an empty answer with ${round(pay)} × ${round(times)}, as much as any other answer of the probe: return 0 for an empty answer.`,
      ];
    return [];
  });
  const [nothing, best] = [empty.reward ?? 0, gold?.reward];
  return warnings.length === 0 && typeof best === "number" && nothing >= best && nothing > 0
    ? [
        `An empty answer earns ${round(nothing)} in total, and the reference answer ${round(best)}: make an empty answer earn less.`,
      ]
    : warnings;
}
