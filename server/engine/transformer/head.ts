/**
 * From final states to per-token channels, and from their gradients back. The states are those of the tokens that are
 * scored, `[tokens, width]`: no logits exist for others.
 */
import type { Channel } from "../../core/policy.ts";
import { divergenceOf, type Divergence } from "../../core/channelNames.ts";
import { take, type Named, type Ops } from "../../core/ops.ts";
import { divergence, divergenceGradient } from "./divergence.ts";
import { exponentials, type Exponentials } from "./exponentials.ts";
import { linear, type Gradients } from "./linear.ts";

/** H = log s − Σ e·z / s, [tokens, 1]. */
export function entropy<T>(ops: Ops<T>, { e, z, s, logS }: Exponentials<T>): T {
  return ops.sub(logS, ops.div(ops.sum(ops.mul(e, z)), s));
}

// ───────────────────────────────────────────────────────────────── channels, read from their names

/** Channels of a model's own distribution, by the names that they have. */
const ofLogits = ["logp", "entropy", "logsumexp", "mean_logp", "sum_pi_squared", "greedy"] as const;

/** A channel that needs the vocabulary (one of the distribution alone, or a divergence), a head's, or another model's. */
type ParsedChannel =
  | { readonly kind: "logits"; readonly name: (typeof ofLogits)[number] }
  /** `logp`: of the token, by the softmax of a head with a value for every word; otherwise the value itself. */
  | { readonly kind: "head"; readonly head: string; readonly logp: boolean }
  | { readonly kind: "logp_of"; readonly model: string }
  | { readonly kind: "greedy_of"; readonly model: string }
  | ({ readonly kind: "divergence" } & Divergence);

/** The parts of a channel's name; undefined for a word that is none. */
export function parseChannel(channel: Channel): ParsedChannel | undefined {
  const own = ofLogits.find((name) => name === channel);
  if (own !== undefined) return { kind: "logits", name: own };
  const compared = divergenceOf(channel);
  if (compared !== undefined) return { kind: "divergence", ...compared };
  const [kind, ...rest] = channel.split(":");
  const name = rest.join(":");
  if (name === "") return undefined;
  if (kind === "head") return parseHead(rest);
  if (kind === "logp") return { kind: "logp_of", model: name };
  return kind === "greedy" ? { kind: "greedy_of", model: name } : undefined;
}

/** `<name>` or `<name>:logp`. */
function parseHead(words: readonly string[]): ParsedChannel {
  const logp = words.length > 1 && words.at(-1) === "logp";
  return { kind: "head", head: (logp ? words.slice(0, -1) : words).join(":"), logp };
}

type HeadChannel = Extract<ParsedChannel, { readonly kind: "head" }>;

/** What the head's programs compute with. */
export interface HeadInput<T> {
  /** Normalised final states of the scored tokens. */
  readonly y: T;
  readonly targets: T;
  /**
   * Folded matrices: `head` `[vocabulary, width]` and `heads.<name>` `[width, outputs]` with `heads.<name>_bias`
   * `[1, outputs]`.
   */
  readonly folded: Named<T>;
  /** Heads with an output for every word of the vocabulary, by name; others have one. */
  readonly words: ReadonlySet<string>;
  /** The same of the models that divergences are taken from, by name. */
  readonly others: Named<{ readonly y: T; readonly folded: Named<T> }>;
}

const logitsOf = <T>(ops: Ops<T>, folded: Named<T>, y: T): T =>
  ops.matmul(y, take(folded, "head"), false, true);

/** What a head says of every token, [tokens, outputs]. */
export const headOutputs = <T>(ops: Ops<T>, folded: Named<T>, head: string, y: T): T =>
  linear(ops, folded, `heads.${head}`, y);
/** A channel of a head, [tokens]. */
function headValue<T>(ops: Ops<T>, input: HeadInput<T>, { head, logp }: HeadChannel): T {
  const outputs = headOutputs(ops, input.folded, head, input.y);
  if (!input.words.has(head)) return ops.reshape(outputs, [-1]);
  return logp ? ops.neg(ops.crossEntropy(outputs, input.targets)[0]) : ops.pick(outputs, input.targets);
}

/** Whether logp by itself is all that is wanted of the logits: one operation then gives it and its gradient. */
const plain = (channels: readonly Channel[]): boolean =>
  channels.every((channel) => channel === "logp" || channel.startsWith("head:"));

const otherLogits = <T>(ops: Ops<T>, input: HeadInput<T>, model: string): T => {
  const other = input.others[model];
  if (other === undefined) throw new Error(`internal: the states of ${model} are not fed`);
  return logitsOf(ops, other.folded, other.y);
};

/** Mean over the vocabulary of log p, [tokens, 1]. */
const meanLogp = <T>(ops: Ops<T>, { z, logS }: Exponentials<T>): T => ops.sub(ops.mean(z), logS);

/** Σ p², [tokens, 1]. */
const sumSquared = <T>(ops: Ops<T>, { e, s }: Exponentials<T>): T =>
  ops.div(ops.sum(ops.square(e)), ops.square(s));

/** `[tokens · channels]`, channel after channel in the order given. */
export function channelValues<T>(ops: Ops<T>, channels: readonly Channel[], input: HeadInput<T>): T {
  const flat = (x: T): T => ops.reshape(x, [-1]);
  const wantsLogits = channels.some((channel) => !channel.startsWith("head:"));
  const logits = wantsLogits ? logitsOf(ops, input.folded, input.y) : undefined;
  const parts = logits === undefined || plain(channels) ? undefined : exponentials(ops, logits);
  const valueOf = (channel: Channel): T => {
    const parsed = parseChannel(channel);
    if (parsed?.kind === "head") return headValue(ops, input, parsed);
    if (logits !== undefined && parts === undefined)
      return ops.neg(ops.crossEntropy(logits, input.targets)[0]);
    if (parts === undefined || parsed === undefined)
      throw new Error(`internal: ${channel} is not a channel of a head`);
    if (parsed.kind === "divergence")
      return flat(divergence(ops, parsed, { logits: logits!, parts }, otherLogits(ops, input, parsed.model)));
    const logpOf = (words: T): T => ops.sub(ops.pick(parts.z, words), flat(parts.logS));
    if (parsed.kind === "greedy_of") return logpOf(ops.argmax(otherLogits(ops, input, parsed.model)));
    switch (channel) {
      case "logp":
        return logpOf(input.targets);
      case "greedy":
        return flat(ops.neg(parts.logS));
      case "entropy":
        return flat(entropy(ops, parts));
      case "logsumexp":
        return flat(ops.add(parts.max, parts.logS));
      case "sum_pi_squared":
        return flat(sumSquared(ops, parts));
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
 * logp → onehot − p; greedy → onehot of the likeliest word − p; entropy → −p·(log p + H); logsumexp → p; mean_logp →
 * 1/V − p; S = Σ p² → 2p·(p − S); divergences by `divergenceGradient`.
 */
function logitsGradient<T>(
  ops: Ops<T>,
  weighed: ReadonlyMap<Channel, T>,
  input: HeadInput<T>,
  vocabulary: number,
): T {
  const logits = logitsOf(ops, input.folded, input.y);
  const [byLogp, byEntropy, byLogsumexp, byMean, bySquares] = ofLogits.map((channel) => weighed.get(channel));
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
  if (bySquares !== undefined) {
    const excess = ops.sub(ops.div(parts.e, parts.s), sumSquared(ops, parts));
    factors.push(ops.scale(ops.mul(bySquares, excess), 2));
  }
  for (const [channel, coefficient] of weighed) {
    const parsed = parseChannel(channel);
    const greedy = channel === "greedy" ? logits : undefined;
    const compared = parsed?.kind === "greedy_of" ? otherLogits(ops, input, parsed.model) : greedy;
    if (compared !== undefined) {
      const [, difference] = ops.crossEntropy(logits, ops.argmax(compared));
      terms.push(ops.mul(difference, ops.neg(coefficient)));
    }
    if (parsed?.kind !== "divergence") continue;
    const others = otherLogits(ops, input, parsed.model);
    terms.push(ops.mul(divergenceGradient(ops, parsed, { logits, parts }, others), coefficient));
  }
  const sum = (xs: readonly T[]): T => xs.slice(1).reduce((total, x) => ops.add(total, x), xs[0]!);
  if (factors.length > 0) terms.push(ops.mul(ops.div(parts.e, parts.s), sum(factors)));
  return sum(terms);
}

/** The gradient by each head's outputs: of a token's value onehot, of its log-prob onehot − softmax. */
function headGradients<T>(
  ops: Ops<T>,
  weighed: ReadonlyMap<Channel, T>,
  input: HeadInput<T>,
): Map<string, T> {
  const found = new Map<string, T>();
  for (const [channel, coefficient] of weighed) {
    const parsed = parseChannel(channel);
    if (parsed?.kind !== "head") continue;
    const before = found.get(parsed.head);
    const own = headGradient(ops, input, parsed, coefficient);
    found.set(parsed.head, before === undefined ? own : ops.add(before, own));
  }
  return found;
}
function headGradient<T>(ops: Ops<T>, input: HeadInput<T>, { head, logp }: HeadChannel, coefficient: T): T {
  if (!input.words.has(head)) return coefficient;
  const outputs = headOutputs(ops, input.folded, head, input.y);
  const [, difference] = ops.crossEntropy(outputs, input.targets);
  const slope = logp ? ops.neg(difference) : ops.sub(ops.softmax(outputs), difference);
  return ops.mul(slope, coefficient);
}

/** Heads whose gradient stops before the trunk, by name. */
interface HeadOptions {
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
  for (const [head, dOutputs] of headGradients(ops, byChannel, input)) {
    const name = `heads.${head}`;
    gradients.found[name] = ops.matmul(input.y, dOutputs, true);
    gradients.vector(`${name}_bias`, dOutputs);
    if (!detached.has(head)) dys.push(ops.matmul(dOutputs, take(input.folded, name), false, true));
  }
  if (dys.length === 0) return ops.scale(input.y, 0);
  return dys.slice(1).reduce((sum, x) => ops.add(sum, x), dys[0]!);
}
