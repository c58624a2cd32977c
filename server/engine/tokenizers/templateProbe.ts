/** What a chat template does to earlier turns when it writes a conversation again with one turn more. */
import { UserError, messageOf } from "../../../shared/lib/errors.ts";
import type { ChatLook, ChatTurnLook } from "../../core/config/modelFacts.ts";
import type { ChatMessage, Tokenizer } from "../../core/policy.ts";
import type { ToolSpec } from "../../core/slots/tool.ts";
import { commonPrefix } from "../../core/rows/commonPrefix.ts";

type Chat = NonNullable<Tokenizer["chat"]>;

const asked: ChatMessage = { role: "user", content: "QUESTION" };
const thought = "<think>\nTHOUGHT\n</think>\n\n";
const probeTool: ToolSpec = {
  name: "probe_tool",
  description: "A tool.",
  parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
};

/** The least that has to be taken out of `before`, after what both begin with, so that `after` begins with the rest. */
function droppedFrom(before: string, after: string): string {
  const same = commonPrefix(before, after);
  for (let end = same; end < before.length; end++)
    if (after.startsWith(before.slice(end), same)) return before.slice(same, end);
  return before.slice(same);
}

/** What the policy had read and written, and the same as the template writes it with a reply. */
function look(chat: Chat, content: string, replies: readonly ChatMessage[]): ChatTurnLook | undefined {
  const opening = chat([asked]);
  if (opening === undefined) return undefined;
  try {
    const after = chat([asked, { role: "assistant", content }, ...replies]) ?? "";
    const left = replies.find((reply) => !after.includes(reply.content));
    if (left !== undefined)
      return { kind: "refused", problem: `it leaves out messages of the role ${left.role}` };
    const before = opening + content;
    const dropped = droppedFrom(before, after);
    return dropped === "" ? { kind: "kept" } : { kind: "dropped", text: dropped };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { kind: "refused", problem: messageOf(error.cause ?? error) };
  }
}

function describesTools(chat: Chat): boolean {
  try {
    return chat([asked], { tools: [probeTool] })?.includes(probeTool.name) === true;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return false;
  }
}

/**
 * Probes a tokenizer's chat template with a question, a turn with and without a thought, and a reply of a user or of a tool.
 * @returns undefined: there is no template
 */
export function probeTemplate(tokenizer: Pick<Tokenizer, "chat">): ChatLook | undefined {
  const chat: Chat = (messages, options) => tokenizer.chat?.(messages, options);
  const user: ChatMessage = { role: "user", content: "REPLY" };
  const tool: ChatMessage = { role: "tool", content: "RESULT", name: probeTool.name };
  const plain = { user: look(chat, "ANSWER", [user]), tool: look(chat, "ANSWER", [tool]) };
  if (plain.user === undefined || plain.tool === undefined) return undefined;
  const thinking = {
    user: look(chat, `${thought}ANSWER`, [user])!,
    tool: look(chat, `${thought}ANSWER`, [tool])!,
  };
  return { plain: { user: plain.user, tool: plain.tool }, thinking, tools: describesTools(chat) };
}

const one = (text: string): string => `\`${text.replaceAll("\n", "⏎").slice(0, 60)}\``;

/** The probe as sentences: for hovers and `gradus doctor`. */
export function templateText({ plain, thinking, tools }: ChatLook): string[] {
  const said: string[] = [];
  const drops = (["user", "tool"] as const).flatMap((role) => {
    const found = plain[role].kind === "dropped" ? plain[role] : thinking[role];
    return found.kind === "dropped"
      ? [{ role, text: found.text, always: plain[role].kind === "dropped" }]
      : [];
  });
  for (const { role, text, always } of drops)
    said.push(
      `With a reply of the ${role}, the chat template drops or changes ${one(text)} of the turn before${always ? "" : " where that has a thought"}.`,
    );
  if (drops.length === 0)
    said.push("The chat template keeps earlier turns as they are: it is prefix-preserving over turns.");
  else
    said.push(
      "Episodes go on with the policy's own tokens; with `next: rerender` they go on as the template writes them again.",
    );
  const { tool } = plain;
  if (tool.kind === "refused")
    said.push(`The chat template has no turn of a tool (${tool.problem}): results are given as the user's.`);
  if (!tools) said.push("The chat template says nothing of tools: they are described in the prompt.");
  return said;
}
