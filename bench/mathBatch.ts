/** A step's worth of rollouts without a run: random rewards and log-probs, rows of one length. */
import { Algorithm, columnOf, contextOf } from "../server/algorithm.ts";
import type { StageBody } from "../server/config/resolved.ts";
import { randomStream } from "../server/random.ts";
import type { Batch, Stats, TermValue } from "../server/seams.ts";

export interface MathStep {
  readonly batch: Batch;
  readonly algorithm: Algorithm;
  readonly terms: readonly (readonly TermValue[])[];
  readonly old: Stats;
  readonly now: Stats;
}

export function mathStep(body: StageBody, rows: number, length: number, group = 8): MathStep {
  const random = randomStream(1, "math");
  const size = rows * length;
  const column = (from: number, to: number): Float64Array =>
    new Float64Array(size).map(() => from + (to - from) * random.next());
  const logp = column(-4, -0.1);
  const near = (): Float64Array => logp.map((value) => value + 0.3 * (random.next() - 0.5));
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
    algorithm: new Algorithm(body, contextOf(body, { random })),
    terms: body.reward.terms.map(() =>
      Array.from({ length: rows }, () => ({ kind: "value", value: random.integer(3) / 2 }) as const),
    ),
    old: { logp, "logp:reference": near() },
    // An update builds the channels that are asked for, and no other.
    now: { logp: near() },
  };
}

/** Rewards → advantages → weights → loss and derivatives, as a step does them. @returns the loss */
export function computeStep({ batch, algorithm, terms, old, now }: MathStep): number {
  const clock = { step: 0, stageStep: 0 };
  const masked = algorithm.masked(batch);
  const columns = terms.map((values, i) => columnOf(`term ${i}`, values, masked));
  const scored = algorithm.rewards(columns, masked, clock);
  const advantages = algorithm.advantages(scored.combined, masked, old, clock);
  const weights = algorithm.weights(masked, advantages);
  const update = { old, advantages: advantages.tokens, weights, scored, reuse: true };
  return algorithm.weigh(update, clock)(now, masked).loss;
}
