/** A step's worth of rollouts without a run: random rewards and log-probs, rows of one length. */
import { Algorithm, contextOf } from "../server/algorithm/algorithm.ts";
import { columnOf } from "../server/algorithm/rewards/rewards.ts";
import type { StageBody } from "../server/core/config/resolved.ts";
import { randomStream } from "../server/lib/random.ts";
import { computeAdvantages } from "../server/run/step/advantage.ts";
import { updateOf } from "../server/run/step/update/training.ts";
import type { TermValue } from "../server/core/slots/reward.ts";
import type { Batch } from "../server/core/rollouts.ts";
import type { Channel, Stats } from "../server/core/policy.ts";

export interface MathStep {
  readonly batch: Batch;
  readonly algorithm: Algorithm;
  readonly terms: readonly (readonly TermValue[])[];
  readonly old: Stats;
  readonly now: Stats;
  /** All rows. */
  readonly admitted: readonly number[];
}

const clock = { step: 0, stageStep: 0 };

export function mathStep(body: StageBody, rows: number, length: number, group = 8): MathStep {
  const random = randomStream(1, "math");
  const size = rows * length;
  const column = (from: number, to: number): Float64Array =>
    new Float64Array(size).map(() => from + (to - from) * random.next());
  const logp = column(-4, -0.1);
  const other = column(-1, 1);
  const near = (values: Float64Array, spread: number): Float64Array =>
    values.map((value) => value + spread * (random.next() - 0.5));
  // A few ratios and one value in ten lie beyond the usual clip.
  const channel = (name: Channel): Float64Array =>
    name.startsWith("logp") ? near(logp, 0.3) : near(other, 0.45);
  const columnsOf = (channels: readonly Channel[]): Stats =>
    Object.fromEntries(channels.map((name) => [name, channel(name)]));
  const algorithm = new Algorithm(body, contextOf(body, { random }));
  const offsets = Int32Array.from({ length: rows + 1 }, (_, row) => row * length);
  const task = { id: "task", source: "task", env: "task", prompt: "", data: {} };
  const batch: Batch = {
    rows,
    offsets,
    tokens: new Int32Array(size),
    origin: new Uint8Array(size),
    mask: new Uint8Array(size).fill(1),
    columns: { logp_old: logp },
    context: { offsets: new Int32Array(rows + 1), values: new Int32Array(0) },
    group: Int32Array.from({ length: rows }, (_, row) => Math.floor(row / group)),
    groups: Math.ceil(rows / group),
    records: Array.from({ length: rows }, (_, row) => ({
      task,
      arm: "task",
      group: String(Math.floor(row / group)),
      index: row % group,
      prompt: "",
      response: "",
      finish: "stop",
      source: "self",
      use: "train",
    })),
  };
  return {
    batch,
    algorithm,
    terms: body.reward.terms.map(() =>
      Array.from({ length: rows }, () => ({ kind: "value", value: random.integer(3) / 2 }) as const),
    ),
    old: {
      logp,
      "logp:reference": near(logp, 0.3),
      ...columnsOf(algorithm.needs(clock).scores.map((one) => one.channel)),
    },
    // An update builds the channels that are asked for, and no other.
    now: columnsOf(algorithm.needs(clock).channels),
    admitted: Array.from({ length: rows }, (_, row) => row),
  };
}

/** Rewards → advantages → weights → loss and derivatives, as a step of a run does them. @returns the loss */
export function computeStep({ batch, algorithm, terms, old, now, admitted }: MathStep): number {
  const masked = algorithm.masked(batch);
  const columns = terms.map((values, i) => columnOf(`term ${i}`, values, masked));
  const scored = algorithm.rewards(columns, masked, clock);
  const compared = { all: old, train: old };
  const { train } = computeAdvantages(algorithm, clock, { batch: masked, scored, admitted }, compared);
  const update = { ...updateOf(train, admitted), reuse: true };
  return algorithm.weigh(update, clock)(now, train.batch).loss;
}
