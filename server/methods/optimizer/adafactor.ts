import { z } from "zod";
import { optimizer, param } from "../../core/declaration.ts";
import { take, type Named, type Ops, countOf } from "../../core/ops.ts";
import { beta, choice, common, learningRate } from "./common.ts";
import { decayed, towards, type Moving, type UpdateRule } from "../../core/slots/optimizer.ts";

const params = z.strictObject({
  lr: learningRate(5e-5, "AdamW's values work; unused with `relative_step`."),
  beta1: param(
    beta.nullable().default(null),
    "Decay of a running mean of the steps; null keeps none, which saves memory.",
  ),
  decay_rate: param(
    z.number().lt(0).default(-0.8),
    "The second moment's decay at update t is 1 − t^decay_rate.",
  ),
  epsilon: param(
    z.tuple([z.number().nonnegative(), z.number().positive()]).default([1e-30, 1e-3]),
    "The first is added to the squared gradient; the second is the smallest scale of a weight, for `scale_parameter`.",
  ),
  clip_threshold: param(
    z.number().positive().default(1),
    "Largest root mean square of a weight's step before η.",
  ),
  scale_parameter: param(
    z.boolean().default(false),
    "Multiply η by the root mean square of the weight itself.",
  ),
  relative_step: param(
    z.boolean().default(false),
    "η is min(0.01, 1/√t) instead of `lr`; warm-up and schedule still apply.",
  ),
  ...common,
  clip_norm: common.clip_norm.default(null),
});
type Params = z.output<typeof params>;

/** Extents of the running means of g² along rows and along columns; a vector keeps all of it. */
const secondMoment = (extents: readonly number[]): Named<readonly number[]> =>
  extents.length === 2 ? { rows: [extents[0]!, 1], columns: [1, extents[1]!] } : { v: extents };

const meanSquare = <T>(ops: Ops<T>, x: T, extents: readonly number[]): T =>
  ops.scale(ops.sumEverything(ops.square(x)), 1 / countOf(extents));

/** g / √v̂ with v̂ = rows·columns / mean(rows), and the next running means. */
function scaled<T>(
  ops: Ops<T>,
  { gradient, state, scalars, extents }: Moving<T>,
): { step: T; state: Record<string, T> } {
  const beta2 = take(scalars, "beta2");
  const square = ops.add(ops.square(gradient), take(scalars, "epsilon1"));
  const [height = 1, width = 1] = extents;
  if (extents.length !== 2) {
    const v = towards(ops, take(state, "v"), square, beta2);
    return { step: ops.mul(gradient, ops.rsqrt(v)), state: { v } };
  }
  const mean = (axis: number, count: number): T => ops.scale(ops.sumAxis(square, axis, true), 1 / count);
  const rows = towards(ops, take(state, "rows"), mean(1, width), beta2);
  const columns = towards(ops, take(state, "columns"), mean(0, height), beta2);
  const overall = ops.scale(ops.sumEverything(rows), 1 / height);
  const byRow = ops.rsqrt(ops.div(rows, overall));
  return { step: ops.mul(ops.mul(gradient, byRow), ops.rsqrt(columns)), state: { rows, columns } };
}

const rule = (given: Params): UpdateRule => ({
  key: `adafactor${given.beta1 === null ? "" : " mean"}${given.scale_parameter ? " scaled" : ""}`,
  state: (extents) => ({ ...secondMoment(extents), ...(given.beta1 === null ? {} : { m: extents }) }),
  ...(given.relative_step ? { lr: (update: number) => Math.min(1e-2, 1 / Math.sqrt(update)) } : {}),
  scalars: (update, lr) => ({
    rate: lr,
    decay: lr * given.weight_decay,
    beta1: given.beta1 ?? 0,
    beta2: 1 - update ** given.decay_rate,
    epsilon1: given.epsilon[0],
    epsilon2: given.epsilon[1],
    threshold: given.clip_threshold,
  }),
  move(ops, moving) {
    const { weight, state, scalars, extents, decays } = moving;
    const one = ops.floats(Float32Array.of(1), []);
    const size = given.scale_parameter
      ? ops.maximum(ops.sqrt(meanSquare(ops, weight, extents)), take(scalars, "epsilon2"))
      : one;
    const next = scaled(ops, moving);
    const excess = ops.div(ops.sqrt(meanSquare(ops, next.step, extents)), take(scalars, "threshold"));
    const rate = ops.div(ops.mul(take(scalars, "rate"), size), ops.maximum(excess, one));
    const raw = ops.mul(next.step, rate);
    const mean =
      given.beta1 === null ? undefined : towards(ops, take(state, "m"), raw, take(scalars, "beta1"));
    const keep = ops.sub(one, ops.mul(take(scalars, "decay"), size));
    return {
      weight: ops.sub(decayed(ops, weight, keep, decays), mean ?? raw),
      state: { ...next.state, ...(mean === undefined ? {} : { m: mean }) },
    };
  },
});

export const adafactor = optimizer({
  name: "adafactor",
  summary:
    "Adam's scaling with the second moment of a matrix kept as row and column means: almost no memory besides the weights.",
  formula: "v̂ = r·cᵀ / mean(r);  u = g/√v̂;  w ← w − η·(u / max(1, rms(u)/d) + λ·w)",
  sources: ["Adafactor: Adaptive Learning Rates with Sublinear Memory Cost"],
  params,
  create: (given) => choice("adafactor", given, rule(given)),
});
