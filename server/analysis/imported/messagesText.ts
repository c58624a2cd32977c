/** What a conversation says, as text. */
import { isObject, type Json, type JsonObject } from "../../../shared/lib/json.ts";

/** Of a conversation what its messages say; who says it where there are several. */
export function textOf(value: Json | undefined): string {
  if (typeof value === "string") return value;
  if (!Array.isArray(value)) return value === undefined || value === null ? "" : JSON.stringify(value);
  const messages = value.map((message) => ({
    role: part(message, "role"),
    content: part(message, "content"),
  }));
  const [only] = messages;
  if (messages.length === 1 && only !== undefined) return only.content;
  return messages.map(({ role, content }) => `${role}: ${content}`).join("\n\n");
}

function part(message: Json, key: string): string {
  const value = isObject(message) ? message[key] : message;
  return typeof value === "string"
    ? value
    : value === undefined || value === null
      ? ""
      : JSON.stringify(value);
}

/** Of one message what was said: its thoughts, its text (pictures left out) and its calls of tools. */
export function saidIn(message: JsonObject): string {
  const { content, reasoning_content: thought, tool_calls: calls } = message;
  const text = Array.isArray(content)
    ? content.map((piece) => (isObject(piece) ? part(piece, "text") : part(piece, ""))).join("")
    : part({ content: content ?? null }, "content");
  return [
    ...(typeof thought === "string" && thought !== "" ? [`<think>${thought}</think>`] : []),
    ...(text === "" ? [] : [text]),
    ...(Array.isArray(calls) ? calls.map(callText) : []),
  ].join("\n");
}

/** Of OpenAI's form, whose name and arguments are in `function`, or flat. */
function callText(call: Json): string {
  const own = isObject(call) && isObject(call["function"] ?? null) ? call["function"]! : call;
  return `${part(own, "name")}(${part(own, "arguments")})`;
}
