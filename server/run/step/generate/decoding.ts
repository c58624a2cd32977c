/** From the config's rollout block to what the policy is asked for. */
import { UserError } from "../../../../shared/lib/errors.ts";
import { valueAt } from "../../../core/schedule.ts";
import type { StageBody } from "../../../core/config/resolved.ts";
import { annealed } from "../../../core/blocks/rollout.ts";
import { grammarOf } from "../../../engine/grammar/index.ts";
import type { Clock } from "../../../core/basics.ts";
import type { DecodeOptions, Models, Tokenizer } from "../../../core/policy.ts";
import type { StepContext } from "../context.ts";
import { deltaLogits } from "./deltaLogits.ts";

type RolloutBlock = StageBody["rollout"];

/** A key of `logit_bias`: a token's id, or a text that is one token. */
function tokenOf(key: string, tokenizer: Tokenizer): number {
  if (/^\d+$/.test(key)) {
    if (Number(key) < tokenizer.size) return Number(key);
    throw biasProblem(key, `the vocabulary has ${tokenizer.size} tokens, from 0`);
  }
  const tokens = tokenizer.encode(key);
  if (tokens.length !== 1) throw biasProblem(key, `the text is ${tokens.length} tokens`);
  return tokens[0]!;
}
const biasProblem = (key: string, why: string): UserError =>
  new UserError(`rollout.logit_bias names ${JSON.stringify(key)}, and ${why}.`, {
    code: "logit-bias",
    action: "Give a token's id, or a text that the model's tokenizer writes as one token.",
  });

/**
 * What a response may be, whatever its temperature: training and evaluation share it.
 *
 * @throws UserError where a bias names no token.
 */
export function constraintsOf(
  { stop, min_tokens, logit_bias, perturb, delta_logits: delta, grammar, lanes }: RolloutBlock,
  { tokenizer, models }: { readonly tokenizer: Tokenizer; readonly models: Models },
): Partial<DecodeOptions> {
  const biases = Object.entries(logit_bias).map(([key, bias]) => [tokenOf(key, tokenizer), bias] as const);
  return {
    ...(stop.length > 0 ? { stop } : {}),
    ...(min_tokens > 0 ? { min_tokens } : {}),
    ...(biases.length > 0 ? { logit_bias: new Map(biases) } : {}),
    ...(perturb === undefined ? {} : { perturb }),
    ...(delta === undefined ? {} : { logits_shift: deltaLogits(delta, models) }),
    ...(grammar === undefined ? {} : { grammar: grammarOf(grammar, tokenizer) }),
    ...(lanes === undefined ? {} : { lanes }),
  };
}

/** Tokens that a response may have at a moment: whole, and at least one. A budget up to 1 is a share of `max_tokens`. */
export function longest(
  { max_tokens, budget = 1 }: Pick<RolloutBlock, "max_tokens" | "budget">,
  clock: Clock,
): number {
  const now = valueAt(budget, clock);
  return Math.max(1, Math.min(max_tokens, Math.round(now <= 1 ? now * max_tokens : now)));
}

/** How rollouts are written at a moment of a stage. */
export function decodeOptions({
  session,
  stage,
  clock,
}: Pick<StepContext, "session" | "stage" | "clock">): DecodeOptions {
  const { rollout } = stage.config.body;
  const temperature = valueAt(rollout.temperature, clock);
  return {
    max_tokens: longest(rollout, clock),
    temperature,
    ...(rollout.anneal === undefined ? {} : { temperature_at: annealed(temperature, rollout.anneal, clock) }),
    ...(rollout.top_k > 0 ? { top_k: rollout.top_k } : {}),
    ...(rollout.top_p < 1 ? { top_p: rollout.top_p } : {}),
    ...(rollout.min_p > 0 ? { min_p: rollout.min_p } : {}),
    repetition_penalty: rollout.repetition_penalty,
    presence_penalty: rollout.presence_penalty,
    frequency_penalty: rollout.frequency_penalty,
    ...constraintsOf(rollout, { tokenizer: session.policy.tokenizer, models: session.models }),
    seed: session.config.seed,
    signal: session.signal,
  };
}

/** The same within a step: it waits between two tokens while the run is paused. */
export const stepDecoding = (context: StepContext): DecodeOptions => ({
  ...decodeOptions(context),
  between: () => context.watch.without(context.session.between),
});
