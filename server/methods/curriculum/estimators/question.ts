/** Which tokens of a model's input are the question. */
import type { MethodContext } from "../../../core/declaration.ts";
import type { Questioned } from "../../../core/states.ts";
import type { Tokenizer } from "../../../core/policy.ts";

/** Number of tokens that two lists share at their start, or at their end. */
function shared(a: Int32Array, b: Int32Array, from: "start" | "end"): number {
  const most = Math.min(a.length, b.length);
  const at = (list: Int32Array, i: number): number | undefined => list.at(from === "start" ? i : -1 - i);
  for (let i = 0; i < most; i++) if (at(a, i) !== at(b, i)) return i;
  return most;
}

/**
 * A prompt as a run gives it to the model. In a chat, the system message and the template are not part of the question; a
 * token that overlaps with them is.
 */
export function questionIn(
  tokenizer: Tokenizer,
  prompt: string,
  { chat = "auto", system }: NonNullable<MethodContext["asking"]> = {},
): Questioned {
  const messages = [
    ...(system === undefined ? [] : [{ role: "system", content: system }]),
    { role: "user", content: prompt },
  ];
  const text = chat === false ? undefined : tokenizer.chat?.(messages);
  if (text === undefined) {
    const prefix = tokenizer.prefix ?? [];
    const tokens = Int32Array.from([...prefix, ...tokenizer.encode(prompt)]);
    return { tokens, from: prefix.length, to: tokens.length };
  }
  const tokens = tokenizer.encode(text);
  // Many templates strip the spaces around a message.
  const question = prompt.trim();
  const at = Math.max(0, text.lastIndexOf(question));
  const from = shared(tokens, tokenizer.encode(text.slice(0, at)), "start");
  const after = shared(tokens, tokenizer.encode(text.slice(at + question.length)), "end");
  return { tokens, from, to: Math.max(from, tokens.length - after) };
}
