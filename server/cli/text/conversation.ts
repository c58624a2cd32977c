/** Talking to a policy: a prompt as its tokenizer wants it, and answers as text, also while they are written. */
import { UserError } from "../../../shared/lib/errors.ts";
import type { PolicyTokenizer } from "../../engine/tokenizers/types.ts";
import { TextStream, type ChatMessage } from "../../engine/tokenizers/index.ts";
import type { TrainablePolicy } from "../../engine/index.ts";
import type { DecodeOptions, Sample } from "../../core/policy.ts";

export interface Asking {
  readonly count: number;
  readonly temperature: number;
  readonly maxTokens: number;
  readonly seed: number;
  /** What other models add to the logits. */
  readonly shift?: DecodeOptions["logits_shift"] | undefined;
}
export interface ConversationAnswer {
  readonly response: string;
  readonly finish: Sample["finish"];
  readonly tokens: number;
  /** Sum over the answer's tokens, at temperature 1. */
  readonly logp: number;
}

/** A conversation in the model's own template, as tokens that the assistant's turn continues. */
export function chatTokens(tokenizer: PolicyTokenizer, messages: readonly ChatMessage[]): Int32Array {
  const text = tokenizer.chat(messages);
  if (text !== undefined) return tokenizer.encode(text);
  throw new UserError("This model has no chat template.", {
    code: "chat-template",
    action: "Leave --system out: its prompts are plain text.",
  });
}
/** Plain text as the model was trained on it. */
export const plainTokens = (tokenizer: PolicyTokenizer, text: string): Int32Array =>
  Int32Array.from([...tokenizer.prefix, ...tokenizer.encode(text)]);

/**
 * `count` answers, in order. Turn `n` of a conversation draws from streams of its own.
 *
 * @param write - called with pieces of the first answer's text as they are certain
 * @throws UserError where the prompt leaves no room in the model's context.
 */
export async function answers(
  policy: TrainablePolicy,
  tokens: Int32Array,
  turn: number,
  asking: Asking,
  write?: (piece: string) => void,
): Promise<ConversationAnswer[]> {
  const { tokenizer, context } = policy;
  if (tokens.length >= context)
    throw new UserError(`The prompt has ${tokens.length} tokens, and the model's context is ${context}.`, {
      code: "prompt-too-long",
      action: "Shorten it.",
    });
  const prompts = Array.from({ length: asking.count }, (_, index) => ({
    tokens,
    key: ["sample", turn, index],
  }));
  const stream = new TextStream((written) => tokenizer.decode(written));
  const samples: Sample[] = [];
  for await (const sample of policy.generate(prompts, {
    max_tokens: Math.min(asking.maxTokens, context - tokens.length),
    temperature: asking.temperature,
    seed: asking.seed,
    ...(asking.shift && { logits_shift: asking.shift }),
    ...(write && { on_token: (index, token) => index === 0 && write(stream.push(token)) }),
  }))
    samples.push(sample);
  write?.(stream.end());
  return samples.sort((a, b) => a.index - b.index).map((sample) => answerOf(tokenizer, sample));
}

/** The token that ended the turn has no text, also where it is an ordinary one. */
function answerOf(tokenizer: PolicyTokenizer, { tokens, finish, logp_old }: Sample): ConversationAnswer {
  const ended = tokenizer.eosAll.includes(tokens.at(-1) ?? -1);
  return {
    response: tokenizer.decode(ended ? tokens.subarray(0, -1) : tokens),
    finish,
    tokens: tokens.length,
    logp: logp_old.reduce((sum, value) => sum + value, 0),
  };
}
