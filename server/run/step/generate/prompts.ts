/** A task as the tokens a model is asked with. */
import { UserError } from "../../../../shared/lib/errors.ts";
import type { Task } from "../../../core/task.ts";
import type { Prompt, Tokenizer } from "../../../core/policy.ts";

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

/** Stands for an attempt while a template shows what it puts around it. */
const marker = "<<attempt>>";

/**
 * The reply to the policy's attempt, as the policy reads it: up to where it generates again.
 * @param last the attempt's last token: an end that the template writes is not written twice
 */
export function replied(
  tokenizer: Tokenizer,
  text: string,
  last: number | undefined,
  { chat }: Asking,
): Int32Array {
  const written =
    chat === false
      ? undefined
      : tokenizer.chat?.([
          { role: "user", content: "?" },
          { role: "assistant", content: marker },
          { role: "user", content: text.trim() },
        ]);
  if (written === undefined) return tokenizer.encode(text);
  const at = written.indexOf(marker);
  if (at < 0) throw noAttempt();
  const tokens = tokenizer.encode(written.slice(at + marker.length));
  return tokens[0] === last ? tokens.subarray(1) : tokens;
}

const noAttempt = (): UserError =>
  new UserError("The model's chat template leaves out the assistant's earlier turns.", {
    code: "chat-attempts",
    action: "Set `rollout.chat: false`, or `rollout.shape: single`.",
  });

const noTemplate = (key: string): UserError =>
  new UserError(`rollout.${key} needs a chat template, and the model's tokenizer has none.`, {
    code: "chat-template",
    action: "Remove it, or choose a model that was trained to chat.",
  });
