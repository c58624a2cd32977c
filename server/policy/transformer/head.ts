/**
 * From final states to per-token channels, and from their gradients back. The states are those of the tokens that are
 * scored, `[tokens, width]`: no logits exist for others.
 */
import type { Channel } from "../../seams.ts";
import type { Ops } from "../ops.ts";
import { take, type Named } from "../runtime.ts";
import type { Gradients } from "./linear.ts";

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

/** H = log s − Σ e·z / s, [tokens, 1]. */
export function entropy<T>(ops: Ops<T>, { e, z, s, logS }: Exponentials<T>): T {
  return ops.sub(logS, ops.div(ops.sum(ops.mul(e, z)), s));
}

// ───────────────────────────────────────────────────────────────── channels, read from their names

/** A channel that needs the vocabulary: `logp`, `entropy`, `logsumexp`, `mean_logp`, or a divergence. */
export type Parsed =
  | { readonly kind: "logits"; readonly name: "logp" | "entropy" | "logsumexp" | "mean_logp" }
  | { readonly kind: "head"; readonly head: string }
  | { readonly kind: "logp_of"; readonly model: string }
  | {
      readonly kind: "kl";
      readonly model: string;
      readonly direction: "forward" | "reverse";
      /** Among so many words that the other model finds likeliest; undefined: all. */
      readonly top: number | undefined;
    };

/** The parts of a channel's name; undefined for a word that is none. */
export function parseChannel(channel: Channel): Parsed | undefined {
  if (channel === "logp" || channel === "entropy" || channel === "logsumexp" || channel === "mean_logp")
    return { kind: "logits", name: channel };
  const [kind, ...rest] = channel.split(":");
  const name = rest.join(":");
  if (kind === "head" && name !== "") return { kind: "head", head: name };
  if (kind === "logp" && name !== "") return { kind: "logp_of", model: name };
  return kind === "kl" ? parseDivergence(rest) : undefined;
}

/** `<model>:<direction>` or `<model>:<direction>:<k>`. */
function parseDivergence(words: readonly string[]): Parsed | undefined {
  const top = /^[1-9]\d*$/.test(words.at(-1) ?? "") ? Number(words.at(-1)) : undefined;
  const rest = top === undefined ? words : words.slice(0, -1);
  const direction = rest.at(-1);
  if (rest.length < 2 || (direction !== "forward" && direction !== "reverse")) return undefined;
  return { kind: "kl", model: rest.slice(0, -1).join(":"), direction, top };
}
type Divergence = Extract<Parsed, { readonly kind: "kl" }>;

/** What the head's programs compute with. */
export interface HeadInput<T> {
  /** Normalised final states of the scored tokens. */
  readonly y: T;
  readonly targets: T;
  /** Folded matrices: `head` `[vocabulary, width]` and `heads.<name>` `[width, 1]` with `heads.<name>_bias` `[1, 1]`. */
  readonly folded: Named<T>;
  /** The same of the models that divergences are taken from, by name. */
  readonly others: Named<{ readonly y: T; readonly folded: Named<T> }>;
}

const logitsOf = <T>(ops: Ops<T>, folded: Named<T>, y: T): T =>
  ops.matmul(y, take(folded, "head"), false, true);

/** One head's value of every token, [tokens, 1]. */
function headValue<T>(ops: Ops<T>, { y, folded }: HeadInput<T>, head: string): T {
  return ops.add(ops.matmul(y, take(folded, `heads.${head}`)), take(folded, `heads.${head}_bias`));
}

/** Whether logp by itself is all that is wanted of the logits: one operation then gives it and its gradient. */
const plain = (channels: readonly Channel[]): boolean =>
  channels.every((channel) => channel === "logp" || channel.startsWith("head:"));

/** The policy's distribution, and log p, log q and q of every token and word, as one divergence compares them. */
interface Distributions<T> {
  readonly parts: Exponentials<T>;
  readonly logP: T;
  readonly logQ: T;
  readonly q: T;
}
/** @param parts of the policy's `logits` */
function distributions<T>(
  ops: Ops<T>,
  { top }: Divergence,
  logits: T,
  parts: Exponentials<T>,
  others: T,
): Distributions<T> {
  const [own, other] =
    top === undefined
      ? [parts, exponentials(ops, others)]
      : [logits, others].map((x) => exponentials(ops, ops.add(x, leftOut(ops, others, top))));
  return {
    parts: own!,
    logP: ops.sub(own!.z, own!.logS),
    logQ: ops.sub(other!.z, other!.logS),
    q: ops.div(other!.e, other!.s),
  };
}
/** 0 for the k likeliest words of each row (and those as likely as the last of them), −1e9 for the others. */
function leftOut<T>(ops: Ops<T>, logits: T, k: number): T {
  const [likeliest] = ops.topK(logits, k);
  const least = ops.neg(ops.max(ops.neg(likeliest)));
  return ops.scale(ops.shift(ops.atLeast(logits, least), -1), 1e9);
}
/** reverse: Σ p·(log p − log q); forward: Σ q·(log q − log p). [tokens, 1]. */
function divergence<T>(
  ops: Ops<T>,
  direction: "forward" | "reverse",
  { parts, logP, logQ, q }: Distributions<T>,
): T {
  return direction === "reverse"
    ? ops.div(ops.sum(ops.mul(parts.e, ops.sub(logP, logQ))), parts.s)
    : ops.sum(ops.mul(q, ops.sub(logQ, logP)));
}

const otherLogits = <T>(ops: Ops<T>, input: HeadInput<T>, model: string): T => {
  const other = input.others[model];
  if (other === undefined) throw new Error(`internal: the states of ${model} are not fed`);
  return logitsOf(ops, other.folded, other.y);
};

/** Mean over the vocabulary of log p, [tokens, 1]. */
const meanLogp = <T>(ops: Ops<T>, { z, logS }: Exponentials<T>): T => ops.sub(ops.mean(z), logS);

/** `[tokens · channels]`, channel after channel in the order given. */
export function channelValues<T>(ops: Ops<T>, channels: readonly Channel[], input: HeadInput<T>): T {
  const flat = (x: T): T => ops.reshape(x, [-1]);
  const wantsLogits = channels.some((channel) => !channel.startsWith("head:"));
  const logits = wantsLogits ? logitsOf(ops, input.folded, input.y) : undefined;
  const parts = logits === undefined || plain(channels) ? undefined : exponentials(ops, logits);
  const valueOf = (channel: Channel): T => {
    const parsed = parseChannel(channel);
    if (parsed?.kind === "head") return flat(headValue(ops, input, parsed.head));
    if (logits !== undefined && parts === undefined)
      return ops.neg(ops.crossEntropy(logits, input.targets)[0]);
    if (parts === undefined || parsed === undefined)
      throw new Error(`internal: ${channel} is not a channel of a head`);
    if (parsed.kind === "kl") {
      const others = otherLogits(ops, input, parsed.model);
      return flat(divergence(ops, parsed.direction, distributions(ops, parsed, logits!, parts, others)));
    }
    switch (channel) {
      case "logp":
        return ops.sub(ops.pick(parts.z, input.targets), flat(parts.logS));
      case "entropy":
        return flat(entropy(ops, parts));
      case "logsumexp":
        return flat(ops.add(parts.max, parts.logS));
      default:
        return flat(meanLogp(ops, parts));
    }
  };
  const values = channels.map(valueOf);
  return values.length === 1 ? values[0]! : ops.concat(values, 0);
}

// ───────────────────────────────────────────────────────────────── gradients

/**
 * Σ over channels of coefficient · ∂channel/∂logits, coefficient columns `[tokens, 1]` by channel:
 * logp → onehot − p; entropy → −p·(log p + H); logsumexp → p; mean_logp → 1/V − p; reverse divergence R →
 * p·(log p − log q − R); forward divergence → p − q. Divergences among the likeliest words have p and q of these only.
 */
function logitsGradient<T>(
  ops: Ops<T>,
  weighed: ReadonlyMap<Channel, T>,
  input: HeadInput<T>,
  vocabulary: number,
): T {
  const logits = logitsOf(ops, input.folded, input.y);
  const [byLogp, byEntropy, byLogsumexp, byMean] = (
    ["logp", "entropy", "logsumexp", "mean_logp"] as const
  ).map((channel) => weighed.get(channel));
  const terms: T[] = [];
  if (byLogp !== undefined) {
    const [, difference] = ops.crossEntropy(logits, input.targets);
    terms.push(ops.mul(difference, ops.neg(byLogp)));
  }
  if (plain([...weighed.keys()])) return terms[0]!;
  const parts = exponentials(ops, logits);
  /** What multiplies p, row by row and entry by entry. */
  const factors: T[] = [];
  if (byEntropy !== undefined)
    factors.push(ops.neg(ops.mul(byEntropy, ops.add(ops.sub(parts.z, parts.logS), entropy(ops, parts)))));
  if (byLogsumexp !== undefined) factors.push(byLogsumexp);
  if (byMean !== undefined) {
    factors.push(ops.neg(byMean));
    terms.push(ops.scale(byMean, 1 / vocabulary));
  }
  for (const [channel, coefficient] of weighed) {
    const parsed = parseChannel(channel);
    if (parsed?.kind !== "kl") continue;
    const both = distributions(ops, parsed, logits, parts, otherLogits(ops, input, parsed.model));
    const reverse = parsed.direction === "reverse";
    const factor = reverse
      ? ops.mul(coefficient, ops.sub(ops.sub(both.logP, both.logQ), divergence(ops, "reverse", both)))
      : coefficient;
    if (!reverse) terms.push(ops.neg(ops.mul(coefficient, both.q)));
    if (parsed.top === undefined) factors.push(factor);
    else terms.push(ops.mul(ops.div(both.parts.e, both.parts.s), factor));
  }
  const sum = (xs: readonly T[]): T => xs.slice(1).reduce((total, x) => ops.add(total, x), xs[0]!);
  if (factors.length > 0) terms.push(ops.mul(ops.div(parts.e, parts.s), sum(factors)));
  return sum(terms);
}

/** Heads whose gradient stops before the trunk, by name. */
export interface HeadOptions {
  readonly vocabulary: number;
  readonly detached: ReadonlySet<string>;
}

/**
 * For coefficients `[tokens, channels]` in the order of `channels`: the gradient by the states `[tokens, width]`;
 * gradients by the folded head matrices are collected.
 */
export function headBackward<T>(
  ops: Ops<T>,
  channels: readonly Channel[],
  input: HeadInput<T>,
  coefficients: T,
  { vocabulary, detached }: HeadOptions,
  gradients: Gradients<T>,
): T {
  const columns =
    channels.length === 1
      ? [coefficients]
      : ops.split(
          coefficients,
          channels.map(() => 1),
          1,
        );
  const byChannel = new Map(channels.map((channel, index) => [channel, columns[index]!]));
  const byLogits = new Map([...byChannel].filter(([channel]) => !channel.startsWith("head:")));
  const dys: T[] = [];
  if (byLogits.size > 0) {
    const dLogits = logitsGradient(ops, byLogits, input, vocabulary);
    // The head is [vocabulary, width]: its input and its gradient change places.
    gradients.matrix("head", dLogits, input.y);
    dys.push(ops.matmul(dLogits, take(input.folded, "head")));
  }
  for (const [channel, dValue] of byChannel) {
    const parsed = parseChannel(channel);
    if (parsed?.kind !== "head") continue;
    const name = `heads.${parsed.head}`;
    gradients.found[name] = ops.matmul(input.y, dValue, true);
    gradients.vector(`${name}_bias`, dValue);
    if (!detached.has(parsed.head)) dys.push(ops.matmul(dValue, take(input.folded, name), false, true));
  }
  if (dys.length === 0) return ops.scale(input.y, 0);
  return dys.slice(1).reduce((sum, x) => ops.add(sum, x), dys[0]!);
}
