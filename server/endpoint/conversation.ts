/** Conversations as the two APIs write them, as the model's chat template reads them, and as tokens. */
import { z } from "zod";
import type { JsonObject } from "../../shared/lib/json.ts";
import type { ChatMessage } from "../core/policy.ts";
import type { ToolSpec } from "../core/slots/tool.ts";
import type { PolicyTokenizer } from "../engine/tokenizers/types.ts";
import { describeTools, written } from "../core/toolCalls.ts";

/** As templates of transformers read it: arguments are objects. */
interface TemplateCall {
  readonly id?: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: JsonObject };
}
interface Said extends ChatMessage {
  readonly tool_calls?: readonly TemplateCall[];
  readonly tool_call_id?: string;
}
/** A tokenizer's, perhaps within bounds. */
type Encode = (text: string) => Int32Array;

export interface Conversation {
  readonly messages: readonly Said[];
  readonly tools: readonly ToolSpec[];
  /** Further variables of the template. */
  readonly variables?: JsonObject | undefined;
}

const jsonObject = z.record(z.string(), z.json());
const textPart = z.looseObject({ type: z.literal(["text", "input_text"]), text: z.string() });
const content = z.union([
  z.string(),
  z.array(textPart).transform((parts) => parts.map(({ text }) => text).join("")),
]);
const openAiCall = z.looseObject({
  id: z.string().optional(),
  function: z.looseObject({
    name: z.string(),
    arguments: z.union([
      jsonObject,
      z.string().transform((text, context) => {
        try {
          return jsonObject.parse(JSON.parse(text === "" ? "{}" : text));
        } catch {
          context.addIssue({ code: "custom", message: "the arguments are not a JSON object" });
          return z.NEVER;
        }
      }),
    ]),
  }),
});
export const openAiMessage = z
  .looseObject({
    role: z.enum(["system", "developer", "user", "assistant", "tool", "function"]),
    content: content.nullish(),
    name: z.string().optional(),
    tool_calls: z.array(openAiCall).nullish(),
    tool_call_id: z.string().optional(),
  })
  .transform(({ role, content: text, name, tool_calls, tool_call_id }): Said => ({
    role: role === "developer" ? "system" : role,
    content: text ?? "",
    ...(name !== undefined && { name }),
    ...(tool_call_id !== undefined && { tool_call_id }),
    ...(tool_calls != null &&
      tool_calls.length > 0 && {
        tool_calls: tool_calls.map(({ id, function: { name: called, arguments: args } }) => ({
          ...(id !== undefined && { id }),
          type: "function" as const,
          function: { name: called, arguments: args },
        })),
      }),
  }));
export const openAiTool = z
  .looseObject({
    type: z.literal("function"),
    function: z.looseObject({
      name: z.string(),
      description: z.string().default(""),
      parameters: jsonObject.default({ type: "object", properties: {} }),
    }),
  })
  .transform(({ function: { name, description, parameters } }): ToolSpec => ({
    name,
    description,
    parameters,
  }));

const anthropicBlock = z.union([
  z.looseObject({ type: z.literal("text"), text: z.string() }),
  z.looseObject({ type: z.literal("tool_use"), id: z.string(), name: z.string(), input: jsonObject }),
  z.looseObject({ type: z.literal("tool_result"), tool_use_id: z.string(), content: content.default("") }),
  z.looseObject({ type: z.literal(["thinking", "redacted_thinking"]) }),
]);
type Block = z.output<typeof anthropicBlock>;

/** One message may hold several results of tools and what the user says after them. */
function fromBlocks(role: "user" | "assistant", blocks: readonly Block[]): Said[] {
  const said: Said[] = [];
  const text = blocks
    .flatMap((block) => ("text" in block && typeof block.text === "string" ? [block.text] : []))
    .join("");
  const calls: TemplateCall[] = [];
  for (const block of blocks) {
    if (block.type === "tool_use" && "input" in block)
      calls.push({ id: block.id, type: "function", function: { name: block.name, arguments: block.input } });
    if (block.type === "tool_result" && "tool_use_id" in block)
      said.push({ role: "tool", content: block.content, tool_call_id: block.tool_use_id });
  }
  if (text !== "" || calls.length > 0 || said.length === 0)
    said.push({ role, content: text, ...(calls.length > 0 && { tool_calls: calls }) });
  return said;
}
export const anthropicMessage = z
  .looseObject({
    role: z.enum(["user", "assistant"]),
    content: z.union([z.string(), z.array(anthropicBlock)]),
  })
  .transform(({ role, content: given }): Said[] =>
    typeof given === "string" ? [{ role, content: given }] : fromBlocks(role, given),
  );
export const anthropicSystem = content.transform((text): Said => ({ role: "system", content: text }));
export const anthropicTool = z
  .looseObject({
    name: z.string(),
    description: z.string().default(""),
    input_schema: jsonObject.default({ type: "object", properties: {} }),
  })
  .transform(({ name, description, input_schema }): ToolSpec => ({
    name,
    description,
    parameters: input_schema,
  }));

/** A conversation whose tools are text: described first, called and answered as episodes write it. */
function toolsAsText(messages: readonly Said[], tools: readonly ToolSpec[], chats: boolean): ChatMessage[] {
  const words = describeTools("json", tools);
  const said = messages.map(({ role, content: text, name = "", tool_calls = [] }): ChatMessage => {
    const calls = tool_calls.map(
      ({ function: called }) => `<tool_call>${JSON.stringify(called)}</tool_call>`,
    );
    const result = role === "tool" && !chats;
    return { role, content: result ? written({ calls: "json" }, name, text) : [text, ...calls].join("") };
  });
  const [first, ...rest] = said;
  return first?.role === "system"
    ? [{ ...first, content: words + first.content }, ...rest]
    : [{ role: "system", content: words }, ...said];
}

/**
 * A conversation as the model reads it, up to where the assistant speaks. A model without a chat template reads what was
 * said, one text after the other. Tools that no template describes are described in words.
 * @throws UserError where the template refuses the messages
 */
export function rendered(
  tokenizer: PolicyTokenizer,
  { messages, tools, variables }: Conversation,
  encode: Encode = (text) => tokenizer.encode(text),
): { readonly text: string; readonly tokens: Int32Array } {
  const options = variables === undefined ? {} : { variables };
  const text = tokenizer.chat(messages, { ...options, tools });
  const silent = tools.length > 0 && (text === undefined || text === tokenizer.chat(messages, options));
  const said = silent ? toolsAsText(messages, tools, text !== undefined) : messages;
  if (text === undefined) return plain(tokenizer, said.map((message) => message.content).join(""), encode);
  const whole = silent ? (tokenizer.chat(said, options) ?? text) : text;
  return { text: whole, tokens: encode(whole) };
}
/** Plain text as the model was trained on it. */
export const plain = (
  tokenizer: PolicyTokenizer,
  text: string,
  encode: Encode,
): { readonly text: string; readonly tokens: Int32Array } => ({
  text,
  tokens: Int32Array.from([...tokenizer.prefix, ...encode(text)]),
});
