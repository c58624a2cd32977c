/** What environments and tools say, as the policy's chat template writes it. */
import type { ChatMessage } from "../../../core/policy.ts";
import type { Playing } from "../../../core/slots/episodes.ts";
import type { Message } from "../../../core/slots/environment.ts";
import { inChat } from "../../../core/toolCalls.ts";
import type { Episode } from "./episode.ts";
import { chatReply } from "./prompts.ts";
import { joined } from "./replayedTurns.ts";

export const isTool = ({ role }: Message): boolean => role === "tool";

export const chatMessage = ({ role, text, name }: Message, playing: Playing): ChatMessage => ({
  role,
  content: role === "tool" ? inChat(playing, name ?? "", text) : text,
  ...(name !== undefined && { name }),
});

/** A reply's tokens, and its messages as the template took them. */
export interface ChatTokens {
  readonly tokens: Int32Array;
  readonly messages: readonly ChatMessage[];
}

/** By the template; one that refuses or leaves out what tools say, or two messages in a row, is given it as the user's. */
export function chatTokens(
  episode: Episode,
  messages: readonly ChatMessage[],
  end: number | undefined,
): ChatTokens | undefined {
  const { policy, asking } = episode.setting;
  const { tokenizer } = policy;
  const write = (own: readonly ChatMessage[]): ChatTokens | undefined => {
    const tokens = chatReply(tokenizer, own, end, asking);
    return tokens && { tokens, messages: own };
  };
  const asUser: ChatMessage[] = [{ role: "user", content: joined(messages.map(({ content }) => content)) }];
  if (messages.every(({ role }) => role === "user") && messages.length === 1) return write(messages);
  try {
    const found = write(messages);
    if (found === undefined) return undefined;
    const text = tokenizer.decode(found.tokens);
    return messages.every(({ content }) => text.includes(content.trim())) ? found : write(asUser);
  } catch {
    return write(asUser);
  }
}
