/**
 * Turns that were drawn among actions: from what a model says of each action's tokens to what it says of the choice, and
 * back from ∂loss by the choice to ∂loss by every token of every action.
 *
 *   s_b = Σ_w log π(w), log P_a = s_a − log Σ_b exp(s_b), H = −Σ_b P_b log P_b
 *   ∂log P_a/∂s_b = [b = a] − P_b, ∂H/∂s_b = −P_b (log P_b + H)
 *
 * Source: Grounding Large Language Models in Interactive Environments with Online Reinforcement Learning.
 */
import { UserError } from "../../../shared/lib/errors.ts";
import { logSumExp } from "../../methods/objective/numbers.ts";
import type { Channel, Stats, Weighed } from "../../core/policy.ts";
import type { ActionSpan, WithAlternatives } from "../../core/rows/choices.ts";

type Choices = WithAlternatives["choices"];

/** How likely a model finds each of some actions. */
export interface Categorical {
  /** log P of each. */
  readonly logp: Float64Array;
  readonly entropy: number;
}

/** @param scores s of each action; @param temperature of the softmax over them, above 0 */
export function categorical(scores: readonly number[], temperature = 1): Categorical {
  const scaled = Float64Array.from(scores, (score) => score / temperature);
  const whole = logSumExp(scaled);
  const logp = scaled.map((score) => score - whole);
  return { logp, entropy: -logp.reduce((sum, one) => sum + Math.exp(one) * one, 0) };
}

const scoreOf = (logp: Float64Array, { first, end }: ActionSpan): number => {
  let sum = 0;
  for (let t = first; t < end; t++) sum += logp[t]!;
  return sum;
};

const categoricalOf = (logp: Float64Array, spans: readonly ActionSpan[]): Categorical =>
  categorical(spans.map((span) => scoreOf(logp, span)));

/** The log-prob that an entropy is of: `entropy:<model>` is of `logp:<model>`. */
const logpOf = (channel: Channel): Channel | undefined =>
  channel === "entropy"
    ? "logp"
    : channel.startsWith("entropy:")
      ? `logp:${channel.slice("entropy:".length)}`
      : undefined;

const isLogp = (channel: Channel): boolean => channel === "logp" || channel.startsWith("logp:");

/**
 * Channels to ask for every action's tokens, so that `statsOfChoices` has what it needs.
 * @throws UserError for one that is of a distribution over words
 */
export function channelsOfActions(channels: readonly Channel[]): Channel[] {
  for (const channel of channels)
    if (!isLogp(channel) && logpOf(channel) === undefined && !/^head:[^:]+$/.test(channel))
      throw new UserError(
        `${channel} is of a distribution over words, and with \`rollout.shape.actions: choose\` the policy's is one over actions.`,
        {
          code: "choose-channel",
          action:
            "Choose an objective and KL estimators of log-probs (`k1`, `k2`, `k3`), or let the policy write its turns (`actions: write`).",
        },
      );
  return [...new Set(channels.flatMap((channel) => [channel, logpOf(channel) ?? channel, "logp" as const]))];
}

/** Puts what is true of a choice at its first token, and 0 at the action's others. */
function place(column: Float64Array, { first, end }: ActionSpan, value: number): void {
  column.fill(0, first, end);
  column[first] = value;
}

/**
 * What a model says of the batch's own tokens, and of the choices as such.
 * @param stats of the rows with their alternatives; @param size tokens of the batch's own rows, which come first
 */
export function statsOfChoices(
  stats: Stats,
  choices: Choices,
  size: number,
  channels: readonly Channel[],
): Stats {
  const found: Partial<Record<Channel, Float64Array>> = {};
  for (const channel of channels) {
    const column = stats[channel]?.slice(0, size);
    if (column === undefined) continue;
    found[channel] = column;
    const from = stats[logpOf(channel) ?? channel];
    if (from === undefined || channel.startsWith("head:")) continue;
    for (const spans of choices) {
      const { logp, entropy } = categoricalOf(from, spans);
      place(column, spans[0], isLogp(channel) ? logp[0]! : entropy);
    }
  }
  return found;
}

/** Coefficients for every token of the rows with their alternatives, from those that were found for the choices. */
export function gradientsOfChoices(
  { gradients, ...weighed }: Weighed,
  logp: Float64Array,
  choices: Choices,
): Weighed {
  const whole: Partial<Record<Channel, Float64Array>> = {};
  for (const [channel, column] of Object.entries(gradients) as [Channel, Float64Array | undefined][]) {
    if (column === undefined) continue;
    const wide = new Float64Array(logp.length);
    wide.set(column);
    whole[channel] = wide;
  }
  const byLogp = (whole.logp ??= new Float64Array(logp.length));
  for (const spans of choices) {
    const [chosen] = spans;
    const of = categoricalOf(logp, spans);
    const perChoice = byLogp[chosen.first]!;
    const perEntropy = whole.entropy?.[chosen.first] ?? 0;
    if (whole.entropy !== undefined) place(whole.entropy, chosen, 0);
    spans.forEach((span, i) => {
      const [logP, p] = [of.logp[i]!, Math.exp(of.logp[i]!)];
      const coefficient =
        perChoice * ((i === 0 ? 1 : 0) - p) - (p === 0 ? 0 : perEntropy * p * (logP + of.entropy));
      byLogp.fill(coefficient, span.first, span.end);
    });
  }
  return { ...weighed, gradients: whole };
}
