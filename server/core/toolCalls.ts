/**
 * How a policy calls tools in its text, and how results are written.
 *
 * - json: `<tool_call>{"name": …, "arguments": {…}}</tool_call>`, any number in a turn (Hermes, Qwen);
 * - tags: `<search>query</search>`, a tag a tool with one text as its argument (Search-R1).
 */
import { messageOf } from "../../shared/lib/errors.ts";
import { isObject, objectOf, type JsonObject } from "../../shared/lib/json.ts";
import { fill } from "./templates.ts";
import type { Playing } from "./slots/episodes.ts";
import type { ToolSpec } from "./slots/tool.ts";

type Format = Playing["calls"];

/** `problem`: why the call cannot be made, as the policy reads it. */
export type ToolCall =
  | { readonly kind: "call"; readonly name: string; readonly args: JsonObject }
  | { readonly kind: "malformed"; readonly name: string; readonly problem: string };

const malformed = (name: string, problem: string): ToolCall => ({ kind: "malformed", name, problem });

const patternOf = (names: readonly string[]): RegExp =>
  new RegExp(
    `<(${names.map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")})>([\\s\\S]*?)(</\\1>|$)`,
    "g",
  );

/** The name of the one argument that a tag holds: the first that the tool must have, else the first. */
export function argumentOf({ parameters }: ToolSpec): string {
  const { required, properties } = parameters;
  const first: unknown = Array.isArray(required) ? required[0] : undefined;
  return typeof first === "string" ? first : (Object.keys(objectOf(properties))[0] ?? "text");
}

function jsonCall(text: string): ToolCall {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return malformed("", `The call is no JSON: ${messageOf(error)}.`);
  }
  const { name, arguments: args = {} } = objectOf(value);
  if (typeof name !== "string") return malformed("", "The call has no `name`.");
  if (!isObject(args)) return malformed(name, "`arguments` of the call must be an object.");
  return { kind: "call", name, args };
}

/** The calls in a turn of the policy, in its order. */
export function callsIn(text: string, format: Format, tools: readonly ToolSpec[]): ToolCall[] {
  if (tools.length === 0) return [];
  const names = format === "json" ? ["tool_call"] : tools.map(({ name }) => name);
  return [...text.matchAll(patternOf(names))].map(([, tag = "", inner = "", close]): ToolCall => {
    const name = format === "json" ? "" : tag;
    if (close === "") return malformed(name, `The call does not end with </${tag}>.`);
    if (format === "json") return jsonCall(inner);
    const tool = tools.find((one) => one.name === tag)!;
    return { kind: "call", name, args: { [argumentOf(tool)]: inner.trim() } };
  });
}

/** Texts that end a turn: with tags the policy waits for the result within its turn. */
export const stopsOf = (format: Format, tools: readonly ToolSpec[]): string[] =>
  format === "tags" ? tools.map(({ name }) => `</${name}>`) : [];

/** A result where no chat template writes it. */
export const written = (
  { calls, result }: Pick<Playing, "calls" | "result">,
  name: string,
  text: string,
): string =>
  fill(
    result ??
      (calls === "json"
        ? "\n<tool_response>\n{result}\n</tool_response>\n"
        : "\n\n<information>{result}</information>\n\n"),
    { result: text, name },
  );

/** The same where a chat template writes what is around it. */
export const inChat = ({ result }: Playing, name: string, text: string): string =>
  result === undefined ? text : fill(result, { result: text, name });

/** What tools there are, where no chat template says it. */
export function describeTools(format: Format, tools: readonly ToolSpec[]): string {
  if (tools.length === 0) return "";
  if (format === "tags")
    return `You may use tools: write the argument between the tags of one, and read the result.\n${tools
      .map((tool) => `<${tool.name}>${argumentOf(tool)}</${tool.name}>: ${tool.description}`)
      .join("\n")}\n\n`;
  return `You may use tools: write <tool_call>{"name": NAME, "arguments": OBJECT}</tool_call>, and read the result.\n${tools
    .map((tool) =>
      JSON.stringify({ name: tool.name, description: tool.description, parameters: tool.parameters }),
    )
    .join("\n")}\n\n`;
}
