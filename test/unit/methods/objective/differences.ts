/**
 * Random ragged batches for objectives, and their derivatives against finite differences. What a batch can be like:
 * rows emptied by the mask or without a token, one-token rows, groups of equal rewards, groups of one, rows without a
 * reward, columns that are NaN where nothing trains; `extreme` adds ratios of e^±30 and log-probs of −∞.
 */
import assert from "node:assert/strict";
import { UserError } from "../../../../shared/lib/errors.ts";
import { randomStream, type Random } from "../../../../server/lib/random.ts";
import { countsOf } from "../../../../server/algorithm/advantages/tokenColumn.ts";
import { everything, factorsInto } from "../../../../server/core/rows/batchParts.ts";
import { sequenceMean } from "../../../../server/methods/objective/aggregates/sequenceMean.ts";
import { tokenMean } from "../../../../server/methods/objective/aggregates/tokenMean.ts";
import { origin, type Batch } from "../../../../server/core/rollouts.ts";
import type { Channel, Stats } from "../../../../server/core/policy.ts";
import type { Combined } from "../../../../server/core/reward.ts";
import type { Aggregate, Objective, ObjectiveInput } from "../../../../server/core/loss.ts";
import type { RolloutRow } from "../../../../shared/rollouts/rollouts.ts";
import { batchOf, made, row } from "../../support.ts";

export interface Wishes {
  /** Ratios of e^±30 and log-probs of −∞ among the others. */
  readonly extreme?: boolean;
  /** Two of a group's rows form a recorded pair. */
  readonly pairs?: boolean;
  readonly groups?: number;
}

const between = (random: Random, low: number, high: number): number => low + (high - low) * random.next();

/** Columns per token that objectives may ask for, NaN where nothing trains. */
const headChannels: readonly Channel[] = [
  "head:value",
  "head:q",
  "head:q1",
  "head:q2",
  "head:q1:logp",
  "head:q2:logp",
  "head:v",
  "head:v1",
  "head:v2",
  "head:reward",
];

function rowsOf(random: Random, { groups = 4, pairs = false }: Wishes): RolloutRow[] {
  const rows: RolloutRow[] = [];
  for (let group = 0; group < groups; group++) {
    const size = 1 + random.integer(5);
    for (let index = 0; index < size; index++) {
      const length = random.integer(8) === 0 ? 0 : 1 + random.integer(6);
      const emptied = random.integer(8) === 0;
      const kept = (): "written" | "observed" =>
        emptied || random.integer(5) === 0 ? "observed" : "written";
      const half = Math.ceil(length / 2);
      rows.push(
        row(`g${group}`, index, {
          tokens: Array.from({ length }, () => random.integer(9)),
          origin: Array.from({ length }, kept),
          ...(pairs && index < 2 ? { pair: "p" } : {}),
          ...(length < 2
            ? {}
            : {
                steps: [
                  [0, half],
                  [half, length],
                ],
                turns: [
                  { role: "assistant", start: 0, end: half },
                  { role: "assistant", start: half, end: length },
                ],
              }),
        }),
      );
    }
  }
  return rows;
}

/** Rewards of 0 or 1 or between; one group's are equal, and a row may have none. */
function rewardsOf(random: Random, batch: Batch): Combined {
  const total = Float64Array.from(batch.group, (group) =>
    group === 0 ? 1 : random.integer(3) === 0 ? between(random, -1, 1) : random.integer(2),
  );
  const errored = new Uint8Array(batch.rows);
  if (batch.rows > 3) total[batch.rows - 1] = Number.NaN;
  return {
    total,
    errored,
    sources: [
      {
        name: "total",
        level: "response",
        status: Uint8Array.from(total, (value) => (Number.isNaN(value) ? 1 : 0)),
        offsets: Int32Array.from({ length: batch.rows + 1 }, (_, i) => i),
        values: total.map((value) => (Number.isNaN(value) ? 0 : value)),
        errors: new Map(),
      },
    ],
  };
}

/** What a normaliser makes of the weights, token by token. */
export const factorsOf = (aggregate: Aggregate, weights: Float64Array, batch: Batch): Float64Array =>
  factorsInto(
    new Float64Array(weights.length),
    weights,
    aggregate(countsOf(weights, batch), batch),
    batch,
    everything(batch),
  );

/** One input to an objective, every column filled in. */
export function randomInput(seed: number, wishes: Wishes = {}): ObjectiveInput {
  const random = randomStream(seed, "objective");
  const batch = batchOf(rowsOf(random, wishes));
  const size = batch.tokens.length;
  const rewards = rewardsOf(random, batch);
  const rowOf = new Int32Array(size);
  for (let r = 0; r < batch.rows; r++) rowOf.fill(r, batch.offsets[r]!, batch.offsets[r + 1]!);
  const trains = Uint8Array.from(rowOf, (r, t) =>
    batch.origin[t] === origin.written && !Number.isNaN(rewards.total[r]!) ? 1 : 0,
  );
  const column = (value: (t: number) => number): Float64Array =>
    Float64Array.from({ length: size }, (_, t) => (trains[t] === 1 ? value(t) : Number.NaN));
  const near = column(() => between(random, -3, -0.1));
  const moved = (by: number): Float64Array => near.map((value) => value + between(random, -by, by));
  const logp = near.map((value) => {
    if (wishes.extreme !== true || random.integer(4) > 0) return value;
    return random.integer(4) === 0 ? Number.NEGATIVE_INFINITY : value + (random.integer(2) === 0 ? 30 : -30);
  });
  const advantage = Float64Array.from(rewards.total, (value, r) =>
    Number.isNaN(value) || batch.group[r] === 0 ? 0 : value - 0.4,
  );
  const weights = Float64Array.from(trains, (kept) => (kept === 1 ? (random.integer(3) === 0 ? 0.5 : 1) : 0));
  const aggregate = made(random.integer(2) === 0 ? tokenMean : sequenceMean, {});
  const heads = (): Stats =>
    Object.fromEntries(headChannels.map((name) => [name, column(() => between(random, -1, 1))]));
  const own = (): Stats => ({
    ...heads(),
    entropy: column(() => between(random, 0, 2)),
    logsumexp: column(() => between(random, 0, 3)),
    mean_logp: column(() => between(random, -6, -2)),
    greedy: column(() => between(random, -0.1, 0)),
    "greedy:reference": column(() => between(random, -3, -0.1)),
  });
  const others = (): Stats =>
    Object.fromEntries(
      ["q1@slow", "q2@slow", "v1@slow", "v2@slow", "q1@slow~drawn", "q2@slow~drawn"].map((name) => [
        `head:${name}`,
        column(() => between(random, -1, 1)),
      ]),
    );
  return {
    batch: {
      ...batch,
      mask: trains,
      rowColumns: {
        mismatched_log_ratio: Float64Array.from({ length: batch.rows }, (_, row) =>
          row % 4 === 1 ? Number.NaN : 0.4 - (row % 3) * 0.2,
        ),
      },
      columns: {
        ...batch.columns,
        logp_old: moved(0.5),
        values: column(() => between(random, -1, 1)),
        returns: column(() => between(random, -1, 1)),
      },
    },
    now: { ...own(), logp },
    old: {
      ...own(),
      logp: moved(0.5),
      "logp:reference": moved(1),
      "logsumexp:proximal": column(() => between(random, 0, 3)),
      ...others(),
    },
    advantages: Float64Array.from(rowOf, (r) => advantage[r]!),
    rewards,
    success: Uint8Array.from(rewards.total, (value) => (Number.isNaN(value) ? 2 : value >= 1 ? 1 : 0)),
    clock: { step: 3, stageStep: 3 },
    weights,
    factors: factorsOf(aggregate, weights, batch),
  };
}

/** The loss whose derivative an objective gives: its own, unless parts of it are held constant at `at`. */
export type LossAt = (input: ObjectiveInput, at: ObjectiveInput) => number;

const step = 1e-6;
const shifted = (input: ObjectiveInput, channel: Channel, token: number, by: number): ObjectiveInput => ({
  ...input,
  now: { ...input.now, [channel]: input.now[channel]!.map((value, t) => (t === token ? value + by : value)) },
});

/**
 * Compares every derivative with a central difference; at a kink (where the differences from both sides disagree) it
 * must lie between them. Tokens that do not train have no derivative.
 */
export function checkDerivatives(objective: Objective, input: ObjectiveInput, lossAt?: LossAt): void {
  const { loss, gradients } = objective.loss(input);
  assert.ok(Number.isFinite(loss), `the loss is ${loss}`);
  const value = (moved: ObjectiveInput): number =>
    lossAt === undefined ? objective.loss(moved).loss : lossAt(moved, input);
  const here = value(input);
  for (const channel of new Set([...objective.channels, ...(Object.keys(gradients) as Channel[])])) {
    const gradient = gradients[channel];
    for (let token = 0; token < input.weights.length; token++) {
      const given = gradient?.[token] ?? 0;
      if (input.weights[token] === 0) {
        assert.equal(
          Math.abs(given),
          0,
          `a derivative by ${channel} of token ${token}, which does not train`,
        );
        continue;
      }
      const [above, below] = [step, -step].map((by) => value(shifted(input, channel, token, by)));
      const [right, left] = [(above! - here) / step, (here - below!) / step];
      const tolerance = 2e-6 * Math.max(1, Math.abs(given), Math.abs(here));
      const central = Math.abs((right + left) / 2 - given) <= tolerance;
      const kink =
        Math.abs(right - left) > 100 * tolerance &&
        given >= Math.min(left, right) - 10 * tolerance &&
        given <= Math.max(left, right) + 10 * tolerance;
      assert.ok(
        central || kink,
        `by ${channel} of token ${token}: ${given}, and the differences say ${left} and ${right}`,
      );
    }
  }
}

/** Whatever comes, numbers or an error that names what is wrong. */
export function checkFinite(objective: Objective, input: ObjectiveInput): void {
  try {
    const { loss, gradients } = objective.loss(input);
    assert.ok(Number.isFinite(loss), `the loss is ${loss}`);
    for (const [channel, gradient] of Object.entries(gradients))
      gradient?.forEach((value, t) =>
        assert.ok(Number.isFinite(value), `the derivative by ${channel} of token ${t} is ${value}`),
      );
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
  }
}
