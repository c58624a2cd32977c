/** Calls that go on with a conversation of their session. */
import { isDeepStrictEqual } from "node:util";
import type { Tokenizer } from "../core/policy.ts";
import { hasEnded } from "../core/rows/ends.ts";
import type { Captured } from "./sessions.ts";

interface Asked {
  readonly messages: readonly unknown[];
  /** As it is rendered. */
  readonly prompt: string;
}

const isAnswer = (message: unknown): boolean =>
  typeof message === "object" && message !== null && "role" in message && message.role === "assistant";

/** How many characters of the prompt an earlier call and its answer are; undefined: the prompt does not go on from it. */
function written(tokenizer: Tokenizer, { messages, prompt }: Asked, call: Captured): number | undefined {
  const { messages: earlier } = call;
  if (earlier === undefined || !isAnswer(messages[earlier.length])) return undefined;
  if (!isDeepStrictEqual(messages.slice(0, earlier.length), earlier)) return undefined;
  const text = call.prompt + tokenizer.decode(call.tokens);
  return prompt.startsWith(text) ? text.length : undefined;
}

/**
 * A conversation's next prompt with the tokens that the policy wrote before, which its text need not be read as; then
 * what came since. Where the policy ended its turn, that end stays, and an end that the template writes is not written twice.
 * @param calls of the session
 * @returns undefined where the prompt goes on from none of them: another conversation, or one that is written otherwise
 */
export function goingOn(
  tokenizer: Tokenizer,
  asked: Asked,
  calls: readonly Captured[],
): Int32Array | undefined {
  let most = -1;
  let from: Captured | undefined;
  for (const call of calls) {
    const length = written(tokenizer, asked, call) ?? -1;
    if (length > most) [most, from] = [length, call];
  }
  if (from === undefined) return undefined;
  const since = tokenizer.encode(asked.prompt.slice(most));
  const endsAlike = hasEnded(from.tokens, tokenizer) && since[0] === from.tokens.at(-1);
  return Int32Array.from([...from.prompt_tokens, ...from.tokens, ...(endsAlike ? since.subarray(1) : since)]);
}
