/** Pairs of answers, the better one first: as rows to learn from, and a step of `preference` and `reward_model` stages. */
import { UserError } from "../../../shared/lib/errors.ts";
import { selectRows } from "../../core/rows/batch.ts";
import { batchOfTexts, textRecord } from "../../core/rows/textRows.ts";
import type { Scores } from "../../algorithm/rewards/rewards.ts";
import { create } from "../../core/create.ts";
import { learnerBy } from "../../methods/reward/models/lesson.ts";
import type { Task } from "../../core/task.ts";
import type { Batch } from "../../core/rollouts.ts";
import type { Tokenizer } from "../../core/policy.ts";
import { status, type Learner, type RewardColumn } from "../../core/reward.ts";
import type { StepContext } from "../step/context.ts";
import { admit } from "../step/admit/admit.ts";
import { modelStats } from "../step/score/modelScores.ts";
import { updatePolicy } from "../step/update/policyUpdates.ts";
import { measureMemory, measureUpdates } from "../step/log/measure.ts";
import { selectColumn } from "../step/score/rewardColumns.ts";
import { asked, type Asking } from "../step/generate/prompts.ts";
import { step } from "../step/step.ts";
import { drawnTasks } from "./likelihood.ts";
import { checkLengths, policyPairs } from "./policyPairs.ts";

/** What the better and the worse answer of a pair count as. */
const labels = [1, 0] as const;

const pairOf = (task: Task): readonly [string, string] => {
  if (task.pair !== undefined) return [task.pair.chosen, task.pair.rejected];
  throw new UserError(`task ${task.id} of ${task.source} has no pair of answers to compare`, {
    code: "pair-missing",
    action:
      "Name the fields that hold them with `chosen` and `rejected` of the dataset, or set `pairs: rollouts` on the stage.",
  });
};

/** Two rows a task, in the order of the tasks: the chosen answer, the rejected one. */
function pairedBatch(tasks: readonly Task[], tokenizer: Tokenizer, asking: Asking): Batch {
  const rows = tasks.flatMap((task, pair) => {
    const { tokens, prefix = [] } = asked(tokenizer, task, asking);
    return pairOf(task).map((response, index) => ({
      context: [...tokens, ...prefix],
      tokens: [...tokenizer.encode(response), tokenizer.eos],
      record: { ...textRecord(task, pair, response), index, pair: String(pair) },
    }));
  });
  const pair = Int32Array.from(rows, (_, row) => row >> 1);
  return { ...batchOfTexts(rows), group: pair, groups: tasks.length, pair };
}

/** One reward a row: which of the two is better. */
const verdicts = ({ rows }: Batch): RewardColumn => ({
  name: "chosen",
  level: "response",
  status: new Uint8Array(rows).fill(status.value),
  offsets: Int32Array.from({ length: rows + 1 }, (_, row) => row),
  values: Float64Array.from({ length: rows }, (_, row) => labels[row % 2]!),
  errors: new Map(),
});

const scoresOf = (batch: Batch): Pick<Scores, "combined" | "success"> => {
  const column = verdicts(batch);
  return {
    combined: { sources: [column], total: column.values, errored: new Uint8Array(batch.rows) },
    success: Uint8Array.from(column.values),
  };
};

/** Pairs of the stage's tasks, as rows that fit the model. */
function drawnPairs(context: StepContext): Batch {
  const { policy } = context.session;
  const batch = pairedBatch(drawnTasks(context), policy.tokenizer, context.stage.config.body.rollout);
  checkLengths(batch, policy.context);
  return batch;
}

/** The policy learns which answer of each pair is the better. */
export async function preferenceStep(context: StepContext): Promise<Record<string, number>> {
  const { stage, session, clock, watch } = context;
  if (stage.config.pairs === "rollouts") return step(context);
  session.signal.throwIfAborted();
  const { algorithm } = stage;
  const batch = algorithm.masked(drawnPairs(context));
  const old = await watch.time("score", () => modelStats(context, batch));
  const size = batch.tokens.length;
  const advantages = {
    tokens: new Float64Array(size),
    rows: new Float64Array(batch.rows),
    exists: new Uint8Array(size).fill(1),
  };
  const weights = algorithm.tokenWeights(batch, advantages, old, clock);
  const train = { batch, advantages, weights, old, scored: scoresOf(batch) };
  const updates = await watch.time("update", () => updatePolicy(context, { train }, false));
  algorithm.finished();
  return { ...measureUpdates(updates), ...measureMemory(session), ...watch.metrics() };
}

/** The learner of a reward_model stage. */
function learnerOf({ stage }: StepContext, name: string): Learner {
  const { objective } = stage.config.body;
  const declared = {
    model: name,
    objective: create(objective.loss, stage.context),
    from: undefined,
    who: `stage ${stage.config.name}`,
  };
  return learnerBy(declared, "before_advantage");
}

/** A model's head learns which of two answers is the better; the policy stays as it is. */
export async function rewardModelStep(context: StepContext): Promise<Record<string, number>> {
  const { stage, session, clock, watch } = context;
  const { trains, pairs } = stage.config;
  if (trains === undefined)
    throw new UserError(`stage ${stage.config.name} does not say which model it trains`, {
      code: "stage-model",
      action: "Write `trains: NAME`, a model of `models` with `trains: true` and a value head.",
    });
  session.signal.throwIfAborted();
  const { batch, terms } =
    pairs === "rollouts"
      ? await ownPairs(context)
      : labelled(
          pairs === "dataset"
            ? drawnPairs(context)
            : await byPolicies(context, pairs, session.models.get(trains).context),
        );
  const learner = learnerOf(context, trains);
  const metrics =
    batch.rows === 0
      ? {}
      : await watch.time("update", () =>
          learner.train(session.models, batch, { terms, weights: terms.map(() => 1) }, clock),
        );
  const named = Object.entries(metrics).map(([name, value]) => [`learner/${trains}/${name}`, value]);
  return { ...Object.fromEntries(named), ...measureMemory(session), ...watch.metrics() };
}

interface Labelled {
  readonly batch: Batch;
  readonly terms: readonly RewardColumn[];
}

const labelled = (batch: Batch): Labelled => ({ batch, terms: [verdicts(batch)] });

async function byPolicies(
  context: StepContext,
  pairs: Parameters<typeof policyPairs>[1],
  room: number,
): Promise<Batch> {
  const batch = await context.watch.time("generate", () => policyPairs(context, pairs));
  checkLengths(batch, room);
  return batch;
}

/** Answers that the policy generates now, compared by the stage's reward. */
async function ownPairs(context: StepContext): Promise<Labelled> {
  const { batch, scored, admitted } = await admit(context);
  const { combined } = context.stage.algorithm.rewards(scored.rewards.terms, batch, context.clock);
  const total: RewardColumn = {
    ...verdicts(batch),
    name: "total",
    status: Uint8Array.from(combined.total, (value) => (Number.isNaN(value) ? status.none : status.value)),
    values: combined.total,
  };
  return { batch: selectRows(batch, admitted), terms: [selectColumn(total, admitted)] };
}
