/** From logits to per-token channels, and from their gradients back to a gradient by the logits. */
import type { Ops } from "../ops.ts";

/** Which channels a program computes: `plain` is logp alone, the common case, in one operation. */
export type Detail = "plain" | "full";
export const detailChannels = { plain: ["logp"], full: ["logp", "entropy", "logsumexp"] } as const;

/** z = logits − max, e = exp(z), s = Σ e: [tokens, vocabulary] and [tokens, 1]. */
export function exponentials<T>(ops: Ops<T>, logits: T): { max: T; z: T; e: T; s: T; logS: T } {
  const max = ops.max(logits);
  const z = ops.sub(logits, max);
  const e = ops.exp(z);
  const s = ops.sum(e);
  return { max, z, e, s, logS: ops.log(s) };
}

/** H = log s − Σ e·z / s, [tokens, 1]. */
export function entropy<T>(ops: Ops<T>, { e, z, s, logS }: { e: T; z: T; s: T; logS: T }): T {
  return ops.sub(logS, ops.div(ops.sum(ops.mul(e, z)), s));
}

/** `[tokens · channels]`, channel after channel in the order of `detailChannels`. */
export function channels<T>(ops: Ops<T>, detail: Detail, logits: T, targets: T): T {
  if (detail === "plain") return ops.neg(ops.crossEntropy(logits, targets)[0]);
  const parts = exponentials(ops, logits);
  const flat = (x: T): T => ops.reshape(x, [-1]);
  const logp = ops.sub(ops.pick(parts.z, targets), flat(parts.logS));
  return ops.concat([logp, flat(entropy(ops, parts)), flat(ops.add(parts.max, parts.logS))], 0);
}

/**
 * Σ over channels of coefficient · ∂channel/∂logits, for coefficients `[tokens, channels]`:
 * logp → onehot − p; entropy → −p·(log p + H); logsumexp → p.
 */
export function logitsGradient<T>(ops: Ops<T>, detail: Detail, logits: T, targets: T, coefficients: T): T {
  const [, difference] = ops.crossEntropy(logits, targets);
  if (detail === "plain") return ops.mul(difference, ops.neg(coefficients));
  const [byLogp, byEntropy, byLogsumexp] = ops.split(coefficients, [1, 1, 1], 1);
  const parts = exponentials(ops, logits);
  const p = ops.div(parts.e, parts.s);
  const surprise = ops.add(ops.sub(parts.z, parts.logS), entropy(ops, parts));
  const others = ops.mul(p, ops.sub(byLogsumexp!, ops.mul(byEntropy!, surprise)));
  return ops.sub(others, ops.mul(difference, byLogp!));
}
