/** A task as the tokens a model is asked with. */
import { UserError } from "../../shared/errors.ts";
import type { Prompt, Task, Tokenizer } from "../seams.ts";

/** Of the config's `rollout` block. */
export interface Asking {
  /** auto: by the model's chat template where it has one. */
  readonly chat: boolean | "auto";
  /** The system message of a chat. */
  readonly system?: string | undefined;
  /** What every response begins with, unless its task says. */
  readonly prefix?: string;
}

/** The prompt's tokens, and those of the response's beginning where the task gives it one. */
export function asked(tokenizer: Tokenizer, task: Task, asking: Asking): Omit<Prompt, "key"> {
  const begin = task.begin ?? asking.prefix;
  return {
    tokens: promptTokens(tokenizer, task.prompt, asking),
    ...(begin === undefined || begin === "" ? {} : { prefix: tokenizer.encode(begin) }),
  };
}

function promptTokens(tokenizer: Tokenizer, prompt: string, { chat, system }: Asking): Int32Array {
  if (chat !== false) {
    const written = tokenizer.chat?.([
      ...(system === undefined ? [] : [{ role: "system", content: system }]),
      { role: "user", content: prompt },
    ]);
    if (written !== undefined) return tokenizer.encode(written);
    if (chat === true || system !== undefined) throw noTemplate(chat === true ? "chat: true" : "system");
  }
  return Int32Array.from([...(tokenizer.prefix ?? []), ...tokenizer.encode(prompt)]);
}

const noTemplate = (key: string): UserError =>
  new UserError(`rollout.${key} needs a chat template, and the model's tokenizer has none.`, {
    code: "chat-template",
    action: "Remove it, or choose a model that was trained to chat.",
  });
