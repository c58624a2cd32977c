/** A softmax in its parts. */
import type { Ops } from "../../core/ops.ts";

/** z = logits − max, e = exp(z), s = Σ e: [tokens, vocabulary] and [tokens, 1]. */
export interface Exponentials<T> {
  readonly max: T;
  readonly z: T;
  readonly e: T;
  readonly s: T;
  readonly logS: T;
}
export function exponentials<T>(ops: Ops<T>, logits: T): Exponentials<T> {
  const max = ops.max(logits);
  const z = ops.sub(logits, max);
  const e = ops.exp(z);
  const s = ops.sum(e);
  return { max, z, e, s, logS: ops.log(s) };
}
