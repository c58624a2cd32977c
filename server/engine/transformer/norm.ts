/** Normalisation of rows. An RMS norm in front of a layer's matrix has its gain folded into that matrix (see fold.ts). */
import { take, type Named, type Ops } from "../../core/ops.ts";
import type { Gradients } from "./linear.ts";
import type { Shape } from "./weights.ts";

/** Rows before any gain, and the factor that made them: `[…, width]`, `[…, 1]`. */
interface Normed<T> {
  readonly normed: T;
  readonly inverse: T;
}

/** x / √(mean(x²) + ε) (Zhang and Sennrich, "Root Mean Square Layer Normalization"). */
export function rms<T>(ops: Ops<T>, epsilon: number, x: T): Normed<T> {
  const inverse = ops.rsqrt(ops.shift(ops.mean(ops.square(x)), epsilon));
  return { normed: ops.mul(x, inverse), inverse };
}
/** dx = inverse · (dn − n · mean(dn · n)). */
export function rmsBackward<T>(ops: Ops<T>, dn: T, { normed, inverse }: Normed<T>): T {
  return ops.mul(ops.sub(dn, ops.mul(normed, ops.mean(ops.mul(dn, normed)))), inverse);
}
/** (x − mean) / √(var + ε) (Ba et al., "Layer Normalization"). */
function layer<T>(ops: Ops<T>, epsilon: number, x: T): Normed<T> {
  return rms(ops, epsilon, ops.sub(x, ops.mean(x)));
}
/** The same as for rms, and the mean taken off once more. */
function layerBackward<T>(ops: Ops<T>, dn: T, normed: Normed<T>): T {
  return rmsBackward(ops, ops.sub(dn, ops.mean(dn)), normed);
}

const normalise = <T>(ops: Ops<T>, { style, epsilon }: Shape, x: T): Normed<T> =>
  style.norm === "rms" ? rms(ops, epsilon, x) : layer(ops, epsilon, x);
const normaliseBackward = <T>(ops: Ops<T>, { style }: Shape, dn: T, normed: Normed<T>): T =>
  style.norm === "rms" ? rmsBackward(ops, dn, normed) : layerBackward(ops, dn, normed);

/** Gain, and bias where there is one. */
function affine<T>(ops: Ops<T>, folded: Named<T>, name: string, normed: T): T {
  const scaled = ops.mul(normed, take(folded, name));
  const bias = folded[`${name}_bias`];
  return bias === undefined ? scaled : ops.add(scaled, bias);
}
function affineBackward<T>(
  ops: Ops<T>,
  folded: Named<T>,
  name: string,
  dy: T,
  normed: T,
  gradients: Gradients<T>,
): T {
  gradients.vector(name, ops.mul(dy, normed));
  if (folded[`${name}_bias`] !== undefined) gradients.vector(`${name}_bias`, dy);
  return ops.mul(dy, take(folded, name));
}

/** Whether gains of norms in front of a layer's matrices are folded into them: a bias could not be. */
export const foldsGains = ({ style }: Shape): boolean => style.norm === "rms";
/** The final norm's goes into the head, where that is not the embedding, too: the two then stay one matrix. */
export const foldsFinalGain = (shape: Shape): boolean => foldsGains(shape) && !shape.tied;
const foldsGain = (shape: Shape, name: string): boolean =>
  name === "norm" ? foldsFinalGain(shape) : foldsGains(shape);

/** What the next matrix multiplies, `y`, and what the backward pass also needs. */
export function before<T>(
  ops: Ops<T>,
  shape: Shape,
  folded: Named<T>,
  name: string,
  x: T,
): { y: T; inverse: T; normed?: T } {
  const { normed, inverse } = normalise(ops, shape, x);
  if (foldsGain(shape, name)) return { y: normed, inverse };
  return { y: affine(ops, folded, name, normed), inverse, normed };
}
export function beforeBackward<T>(
  ops: Ops<T>,
  shape: Shape,
  folded: Named<T>,
  name: string,
  dy: T,
  kept: { readonly y: T; readonly inverse: T; readonly normed?: T | undefined },
  gradients: Gradients<T>,
): T {
  const { y, inverse, normed = y } = kept;
  const dn = foldsGain(shape, name) ? dy : affineBackward(ops, folded, name, dy, normed, gradients);
  return normaliseBackward(ops, shape, dn, { normed, inverse });
}

/** A norm on the output of a block, with its gain (Gemma). */
export function after<T>(
  ops: Ops<T>,
  shape: Shape,
  folded: Named<T>,
  name: string,
  x: T,
): Normed<T> & { readonly y: T } {
  const kept = normalise(ops, shape, x);
  return { ...kept, y: affine(ops, folded, name, kept.normed) };
}
export function afterBackward<T>(
  ops: Ops<T>,
  shape: Shape,
  folded: Named<T>,
  name: string,
  dy: T,
  kept: Normed<T>,
  gradients: Gradients<T>,
): T {
  const dn = affineBackward(ops, folded, name, dy, kept.normed, gradients);
  return normaliseBackward(ops, shape, dn, kept);
}
