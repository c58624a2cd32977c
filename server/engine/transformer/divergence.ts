/** Divergences between the policy's and another model's distributions over the vocabulary, and their gradients by logits. */
import type { Divergence } from "../../core/channelNames.ts";
import type { Ops } from "../../core/ops.ts";
import { exponentials, type Exponentials } from "./exponentials.ts";

/** p is the policy's distribution, q the other model's: `[tokens, vocabulary]`, and their logarithms. */
interface Distributions<T> {
  readonly p: T;
  readonly q: T;
  readonly logP: T;
  readonly logQ: T;
}
/** Logits of the policy, with their softmax, which other channels of the same tokens read too. */
export interface OwnLogits<T> {
  readonly logits: T;
  readonly parts: Exponentials<T>;
}
function distributions<T>(
  ops: Ops<T>,
  { top, temperature }: Divergence,
  { logits, parts }: OwnLogits<T>,
  others: T,
): Distributions<T> {
  const out = top === undefined ? undefined : leftOut(ops, others, top);
  const softmax = (x: T): Exponentials<T> => {
    const scaled = temperature === 1 ? x : ops.scale(x, 1 / temperature);
    return exponentials(ops, out === undefined ? scaled : ops.add(scaled, out));
  };
  const near = out === undefined && temperature === 1 ? parts : softmax(logits);
  const far = softmax(others);
  const share = ({ e, s }: Exponentials<T>): T => ops.div(e, s);
  const log = ({ z, logS }: Exponentials<T>): T => ops.sub(z, logS);
  return { p: share(near), logP: log(near), q: share(far), logQ: log(far) };
}
/** 0 for the k likeliest words of each row (and those as likely as the last of them), −1e9 for the others. */
function leftOut<T>(ops: Ops<T>, logits: T, k: number): T {
  const [likeliest] = ops.topK(logits, k);
  const least = ops.neg(ops.max(ops.neg(likeliest)));
  return ops.scale(ops.shift(ops.atLeast(logits, least), -1), 1e9);
}
/** log(β q + (1 − β) p). */
function logMixture<T>(ops: Ops<T>, beta: number, { logP, logQ }: Distributions<T>): T {
  const own = ops.shift(logP, Math.log1p(-beta));
  const other = ops.shift(logQ, Math.log(beta));
  const most = ops.maximum(own, other);
  return ops.add(most, ops.log(ops.add(ops.exp(ops.sub(own, most)), ops.exp(ops.sub(other, most)))));
}

/** Σ share · (log near − log far), [tokens, 1]. */
const expected = <T>(ops: Ops<T>, share: T, near: T, far: T): T =>
  ops.sum(ops.mul(share, ops.sub(near, far)));

/**
 * [tokens, 1]. reverse: Σ p·(log p − log q); forward: Σ q·(log q − log p); with the mixture m = β q + (1 − β) p:
 * β Σ q·(log q − log m) + (1 − β) Σ p·(log p − log m).
 */
export function divergence<T>(ops: Ops<T>, asked: Divergence, own: OwnLogits<T>, others: T): T {
  const both = distributions(ops, asked, own, others);
  const { p, q, logP, logQ } = both;
  if (asked.of === "reverse") return expected(ops, p, logP, logQ);
  if (asked.of === "forward") return expected(ops, q, logQ, logP);
  const logM = logMixture(ops, asked.of, both);
  return ops.add(
    ops.scale(expected(ops, q, logQ, logM), asked.of),
    ops.scale(expected(ops, p, logP, logM), 1 - asked.of),
  );
}

/**
 * ∂divergence/∂logits, [tokens, vocabulary]. forward: p − q; reverse and the mixture's: p·(g − Σ p·g) of g = log p − log q
 * and g = (1 − β)(log p − log m), as what p itself adds is the same for every word; over the temperature.
 */
export function divergenceGradient<T>(ops: Ops<T>, asked: Divergence, own: OwnLogits<T>, others: T): T {
  const both = distributions(ops, asked, own, others);
  const { p, q, logP, logQ } = both;
  const cooled = (x: T): T => (asked.temperature === 1 ? x : ops.scale(x, 1 / asked.temperature));
  if (asked.of === "forward") return cooled(ops.sub(p, q));
  const g =
    asked.of === "reverse"
      ? ops.sub(logP, logQ)
      : ops.scale(ops.sub(logP, logMixture(ops, asked.of, both)), 1 - asked.of);
  return cooled(ops.mul(p, ops.sub(g, ops.sum(ops.mul(p, g)))));
}
