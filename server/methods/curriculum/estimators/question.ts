/** Where the question stands among the tokens that a model is asked with. */
import type { MethodContext } from "../../../core/declaration.ts";
import type { Questioned } from "../../../core/states.ts";
import type { Tokenizer } from "../../../core/policy.ts";

/** How many tokens two lists share from their beginnings, or from their ends. */
function shared(a: Int32Array, b: Int32Array, from: "start" | "end"): number {
  const most = Math.min(a.length, b.length);
  const at = (list: Int32Array, i: number): number | undefined => list.at(from === "start" ? i : -1 - i);
  for (let i = 0; i < most; i++) if (at(a, i) !== at(b, i)) return i;
  return most;
}

/**
 * A prompt as a run asks it: in a chat the system message and the template's own words are not the question. A token that
 * is part of both counts as the question's.
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
  const written = chat === false ? undefined : tokenizer.chat?.(messages);
  if (written === undefined) {
    const prefix = tokenizer.prefix ?? [];
    const tokens = Int32Array.from([...prefix, ...tokenizer.encode(prompt)]);
    return { tokens, from: prefix.length, to: tokens.length };
  }
  const tokens = tokenizer.encode(written);
  // Many templates strip the spaces around a message.
  const question = prompt.trim();
  const at = Math.max(0, written.lastIndexOf(question));
  const from = shared(tokens, tokenizer.encode(written.slice(0, at)), "start");
  const behind = shared(tokens, tokenizer.encode(written.slice(at + question.length)), "end");
  return { tokens, from, to: Math.max(from, tokens.length - behind) };
}
