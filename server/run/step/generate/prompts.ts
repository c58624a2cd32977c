/** A task as the tokens a model is asked with. */
import { UserError } from "../../../../shared/lib/errors.ts";
import type { Task } from "../../../core/task.ts";
import type { ChatMessage, Prompt, Tokenizer } from "../../../core/policy.ts";
import type { ToolSpec } from "../../../core/slots/tool.ts";

/** Of the config's `rollout` block. */
export interface Asking {
  /** auto: by the model's chat template where it has one. */
  readonly chat: boolean | "auto";
  /** The system message of a chat. */
  readonly system?: string | undefined;
  /** What every response begins with, unless its task says. */
  readonly prefix?: string;
  /** What the policy may call, and the same in words, for a prompt whose template does not speak of tools. */
  readonly offers?: { readonly specs: readonly ToolSpec[]; readonly words: string };
}

/** The prompt's tokens, and those of the response's beginning where the task gives it one. */
export function asked(tokenizer: Tokenizer, task: Task, asking: Asking): Omit<Prompt, "key"> {
  const begin = task.begin ?? asking.prefix;
  return {
    tokens: promptTokens(tokenizer, task.prompt, asking),
    ...(begin === undefined || begin === "" ? {} : { prefix: tokenizer.encode(begin) }),
  };
}

/** The conversation before the policy's first turn. */
const opening = (prompt: string, { system }: Asking): ChatMessage[] => [
  ...(system === undefined ? [] : [{ role: "system", content: system }]),
  { role: "user", content: prompt },
];

/** The whole conversation as the chat template writes it again, up to where the policy speaks; undefined: there is no template. */
export function chatAgain(
  tokenizer: Tokenizer,
  prompt: string,
  turns: readonly ChatMessage[],
  asking: Asking,
): Int32Array | undefined {
  if (asking.chat === false || tokenizer.chat?.(opening(prompt, asking)) === undefined) return undefined;
  return promptTokens(tokenizer, prompt, asking, turns);
}

function promptTokens(
  tokenizer: Tokenizer,
  prompt: string,
  asking: Asking,
  turns: readonly ChatMessage[] = [],
): Int32Array {
  const { chat, system, offers = { specs: [], words: "" } } = asking;
  if (chat !== false) {
    const bare = tokenizer.chat?.([...opening(prompt, asking), ...turns]);
    if (bare !== undefined) {
      if (offers.words === "") return tokenizer.encode(bare);
      const told = tokenizer.chat?.([...opening(prompt, asking), ...turns], { tools: offers.specs });
      return tokenizer.encode(
        told === undefined || told === bare
          ? tokenizer.chat!([...opening(offers.words + prompt, asking), ...turns])!
          : told,
      );
    }
    if (chat === true || system !== undefined) throw noTemplate(chat === true ? "chat: true" : "system");
  }
  return Int32Array.from([...(tokenizer.prefix ?? []), ...tokenizer.encode(offers.words + prompt)]);
}

/** Stands for the policy's turn while a template shows what it puts around it. */
const marker = "<<attempt>>";

/**
 * What a chat template writes from the end of the policy's turn to where the policy speaks again: undefined where there
 * is no template, or none is asked for.
 * @param last the turn's last token: an end that the template writes is not written twice
 * @throws UserError where the template leaves out the assistant's earlier turns, or refuses the messages
 */
export function chatReply(
  tokenizer: Tokenizer,
  messages: readonly ChatMessage[],
  last: number | undefined,
  { chat }: Pick<Asking, "chat">,
): Int32Array | undefined {
  if (chat === false || tokenizer.chat === undefined) return undefined;
  const written = tokenizer.chat([
    { role: "user", content: "?" },
    { role: "assistant", content: marker },
    ...messages,
  ]);
  if (written === undefined) return undefined;
  const at = written.indexOf(marker);
  if (at < 0) throw noAttempt();
  const tokens = tokenizer.encode(written.slice(at + marker.length));
  return tokens[0] === last ? tokens.subarray(1) : tokens;
}

/** The reply to the policy's attempt, as the policy reads it: up to where it generates again. */
export const replied = (
  tokenizer: Tokenizer,
  text: string,
  last: number | undefined,
  asking: Asking,
): Int32Array =>
  chatReply(tokenizer, [{ role: "user", content: text.trim() }], last, asking) ?? tokenizer.encode(text);

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
