/**
 * Rows in the format of OpenAI's Responses API, as NeMo-Gym's data have them: `input` is a text or a list of items,
 * `instructions` is what the system says, and both may lie in `responses_create_params`.
 */
import { isObject, type Json, type JsonObject } from "../../../shared/lib/json.ts";

/** The row with its conversation as `prompt`, in messages, where it has none and is in this format; else as it is. */
export function withPrompt(row: JsonObject): JsonObject {
  if (row["prompt"] !== undefined) return row;
  const { responses_create_params: inner } = row;
  const request = isObject(inner) ? inner : row;
  const { instructions, input } = request;
  const messages = typeof input === "string" ? textOf(request, row, input) : messagesOf(input);
  if (messages === undefined) return row;
  const system =
    typeof instructions === "string" && instructions !== "" ? [says("system", instructions)] : [];
  return { ...row, prompt: [...system, ...messages] };
}

const says = (role: string, content: string): JsonObject => ({ role, content });

/** Other data have a column of that name, too. */
const textOf = (request: JsonObject, row: JsonObject, input: string): JsonObject[] | undefined =>
  request !== row || request["instructions"] !== undefined ? [says("user", input)] : undefined;

function messagesOf(input: Json | undefined): JsonObject[] | undefined {
  if (!Array.isArray(input) || input.length === 0) return undefined;
  const messages = input.filter((item) => !isThought(item)).map(messageOf);
  return messages.every((one) => one !== undefined) ? messages : undefined;
}

const isThought = (item: Json): boolean => isObject(item) && item["type"] === "reasoning";

/** undefined: what it holds is no text. */
function messageOf(item: Json): JsonObject | undefined {
  if (!isObject(item)) return undefined;
  const { type, role, name, content, output } = item;
  if (type === "function_call" && typeof name === "string")
    return says("assistant", `${name}(${typeof item["arguments"] === "string" ? item["arguments"] : ""})`);
  if (type === "function_call_output") return textMessage("tool", output);
  return typeof role === "string" ? textMessage(role, content) : undefined;
}

function textMessage(role: string, content: Json | undefined): JsonObject | undefined {
  if (typeof content === "string") return says(role, content);
  if (!Array.isArray(content)) return undefined;
  const texts = content.map((part) => (isObject(part) ? part["text"] : undefined));
  return texts.every((text) => typeof text === "string") ? says(role, texts.join("")) : undefined;
}
