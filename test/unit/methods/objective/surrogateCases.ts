/** Surrogates with parts that no gradient flows through: the loss that their derivatives are those of. */
import type { ObjectiveInput } from "../../../../server/core/loss.ts";
import { bound } from "../../../../server/methods/objective/surrogates/secondMoment.ts";
import type { LossAt } from "./differences.ts";

export interface Case {
  readonly params?: Record<string, unknown>;
  readonly lossAt?: LossAt;
}

const trained = ({ weights }: ObjectiveInput): number[] =>
  [...weights.keys()].filter((token) => weights[token] !== 0);

const rowOf = ({ batch }: ObjectiveInput, token: number): number =>
  batch.offsets.findLastIndex((offset) => offset <= token);

const logRatio = (input: ObjectiveInput, token: number): number =>
  input.now.logp![token]! - input.old.logp![token]!;

/** Log-ratios of a row's trained tokens. */
const rowLogRatios = (input: ObjectiveInput, token: number): number[] =>
  trained(input)
    .filter((other) => rowOf(input, other) === rowOf(input, token))
    .map((other) => logRatio(input, other));

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** −weight · A log π, the weight as it was. */
const weighted =
  (weight: (at: ObjectiveInput, token: number) => number): LossAt =>
  (moved, at) =>
    -trained(at).reduce(
      (sum, token) =>
        sum + at.factors[token]! * at.advantages[token]! * weight(at, token) * moved.now.logp![token]!,
      0,
    );

const clip = (value: number, low: number, high: number): number => Math.min(Math.max(value, low), high);

const clippedSequenceToken: LossAt = (moved, at) =>
  -trained(at).reduce((sum, token) => {
    const log = mean(rowLogRatios(at, token)) + moved.now.logp![token]! - at.now.logp![token]!;
    const advantage = at.advantages[token]!;
    const value = Math.min(Math.exp(log) * advantage, clip(Math.exp(log), 0.9, 1.1) * advantage);
    return sum + at.factors[token]! * value;
  }, 0);

const openTv = (at: ObjectiveInput, token: number): boolean => {
  const moved = Math.exp(at.now.logp![token]!) - Math.exp(at.old.logp![token]!);
  return at.advantages[token]! > 0 ? moved <= 0.05 : moved >= -0.05;
};

const openKl = (at: ObjectiveInput, token: number): boolean => {
  const [p, q] = [Math.exp(at.old.logp![token]!), Math.exp(at.now.logp![token]!)];
  const away = at.advantages[token]! > 0 ? q > p : q < p;
  return !away || p * Math.log(p / q) + (1 - p) * Math.log((1 - p) / (1 - q)) <= 0.01;
};

const gamma = (at: ObjectiveInput, token: number): number => {
  const log = rowLogRatios(at, token).reduce((sum, value) => sum + value, 0);
  const [k, lambda] = at.advantages[token]! >= 0 ? [2, 3] : [3, 2];
  return Math.exp(lambda + k * log - lambda * Math.exp(log));
};

/** The clip of `second_moment`, its bounds as they were. */
const heldMoment =
  (budget: number): LossAt =>
  (moved, at) => {
    const away = trained(at)
      .map((token) => ({ log: logRatio(at, token), advantage: at.advantages[token]! }))
      .filter(({ log, advantage }) => log * advantage > 0)
      .map(({ log }) => Math.abs(log));
    const kappa = bound(Float64Array.from(away, (log) => log * log).sort(), budget);
    return -trained(at).reduce((sum, token) => {
      const ratio = Math.exp(logRatio(moved, token));
      const advantage = at.advantages[token]!;
      const held = clip(ratio, Math.exp(-kappa), Math.exp(kappa));
      return sum + at.factors[token]! * Math.min(ratio * advantage, held * advantage);
    }, 0);
  };

export const surrogateCases: Readonly<Record<string, readonly Case[]>> = {
  clipped: [
    {},
    { params: { low: 0.1, high: 0.4 } },
    { params: { dual: 1.3, clamp_log_ratio: 0.3 } },
    { params: { delta: 1.5 } },
    { params: { delta: 1.1 } },
    { params: { ratio: "sequence", low: 0.1, high: 0.1 } },
    { params: { ratio: "sequence_sum", clamp_log_ratio: { high: 0.5 } } },
    { params: { ratio: "sequence_token", low: 0.1, high: 0.1 }, lossAt: clippedSequenceToken },
    { params: { anchor: "reference" } },
  ],
  cispo: [
    { lossAt: weighted((at, token) => clip(Math.exp(logRatio(at, token)), 0, 5)) },
    {
      params: { low: 0.1, high: 0.1 },
      lossAt: weighted((at, token) => clip(Math.exp(logRatio(at, token)), 0.9, 1.1)),
    },
    {
      params: { low: 0.3, high: 0.3, one_sided: true },
      lossAt: weighted((at, token) => {
        const ratio = Math.exp(logRatio(at, token));
        return at.advantages[token]! > 0 ? Math.min(ratio, 1.3) : Math.max(ratio, 0.7);
      }),
    },
    {
      params: { ratio: "sequence" },
      lossAt: weighted((at, token) => clip(Math.exp(mean(rowLogRatios(at, token))), 0, 5)),
    },
  ],
  sapo: [{}, { params: { ratio: "sequence" } }],
  geo_mean: [{}, { params: { low: 0.1, high: 0.1 } }],
  clip_cov: [{}, { params: { ratio: "sequence" } }],
  kl_cov: [{}, { params: { share: 0.5, coefficient: 0.7 } }],
  dppo_tv: [
    {
      params: { low: 0.05, high: 0.05, cap: 1.2 },
      lossAt: weighted((at, token) => (openTv(at, token) ? Math.min(1.2, Math.exp(logRatio(at, token))) : 0)),
    },
  ],
  dppo_kl: [
    {
      params: { low: 0.01, high: 0.01 },
      lossAt: weighted((at, token) => (openKl(at, token) ? Math.exp(logRatio(at, token)) : 0)),
    },
  ],
  second_moment: [
    { lossAt: heldMoment(0.04) },
    { params: { budget: 10 }, lossAt: heldMoment(10) },
    { params: { budget: 0.01 }, lossAt: heldMoment(0.01) },
  ],
  vespo: [{ lossAt: weighted(gamma) }],
};
