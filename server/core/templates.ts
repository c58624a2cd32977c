/** Texts that help is made of: fields of a task, templates, lines of a file, and the first part of a text. */
import { readText } from "../lib/inputFile.ts";
import { UserError, messageOf, readFailure } from "../../shared/lib/errors.ts";
import type { Json, JsonObject } from "../../shared/lib/json.ts";
import { isMeasured } from "../../shared/rollouts/rollouts.ts";
import type { Task } from "./task.ts";
import type { Tokenizer } from "./policy.ts";

export const units = ["token", "character", "word", "line", "sentence"] as const;
type TextUnit = (typeof units)[number];

const pieces: Readonly<Record<Exclude<TextUnit, "token">, RegExp>> = {
  character: /./gsu,
  word: /\s*\S+/g,
  line: /[^\n]*\n|[^\n]+$/g,
  sentence: /[\s\S]*?(?:[.!?](?=\s|$)|\n|$)/g,
};

/** Of n parts so many whole ones as a share of them; rounding of the product is forgiven. */
export const partsOf = (share: number, n: number): number =>
  Math.min(n, Math.max(0, Math.floor(share * n + 1e-9)));

/** The first share of a text in whole units, as tokens. */
export function firstTokens(text: string, share: number, unit: TextUnit, tokenizer: Tokenizer): Int32Array {
  if (unit === "token") {
    const tokens = tokenizer.encode(text);
    return tokens.slice(0, partsOf(share, tokens.length));
  }
  return tokenizer.encode(firstText(text, share, unit, tokenizer));
}

/** The same as text. */
export function firstText(text: string, share: number, unit: TextUnit, tokenizer: Tokenizer): string {
  if (unit === "token") return tokenizer.decode(firstTokens(text, share, unit, tokenizer));
  const found = (text.match(pieces[unit]) ?? []).filter((piece) => piece !== "");
  return found.slice(0, partsOf(share, found.length)).join("");
}

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A field of the task's data, `a.b` inside of `a`. */
export const fieldOf = (task: Task, path: string): Json | undefined =>
  path.split(".").reduce<Json | undefined>((at, key) => (isObject(at) ? at[key] : undefined), task.data);

/** The same as text; undefined where it is missing or empty. */
export function textField(task: Task, path: string): string | undefined {
  const value = fieldOf(task, path);
  if (value === undefined || value === null || value === "") return undefined;
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Puts values into the `{name}` places of a template; other braces stay. */
export const fill = (template: string, values: Readonly<Record<string, string>>): string =>
  template.replace(/\{(\w+)\}/g, (place, name: string) => values[name] ?? place);

/** JSON lines, each with its number. @throws UserError naming the file and line */
function linesOf(file: string): { readonly line: number; readonly value: JsonObject }[] {
  let text: string;
  try {
    text = readText(file);
  } catch (error) {
    throw new UserError(`the help cannot be read: ${readFailure(error)}`, {
      file,
      code: "guidance-file",
      cause: error,
      action: "Check the path. It is relative to the config that names it.",
    });
  }
  return text.split("\n").flatMap((line, number) => (line.trim() === "" ? [] : [parsed(line, file, number)]));
}

function parsed(text: string, file: string, line: number): { line: number; value: JsonObject } {
  const where = { file, line, character: 0, code: "guidance-file" };
  let value: Json;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UserError(`not JSON: ${messageOf(error)}`, {
      ...where,
      cause: error,
      action: "Write one JSON object a line.",
    });
  }
  if (isObject(value)) return { line, value };
  throw new UserError("a line must be a JSON object", { ...where, action: "Write one JSON object a line." });
}

export interface TextsByTask {
  of(task: Task): readonly string[];
  /** Lines that help no task, in words. */
  readonly omitted?: string;
}

/**
 * Texts for tasks, from a file whose lines have `prompt` or `id` and the text under one of the keys given. What a log
 * has of rollouts that were written to be measured helps nothing that trains.
 */
export function textsByTask(file: string, keys: readonly string[]): TextsByTask {
  const texts = new Map<string, string[]>();
  const lines = linesOf(file);
  const open = lines.filter(({ value }) => !isMeasured(value));
  const measured = lines.length - open.length;
  for (const { line, value } of open) {
    const task = value["prompt"] ?? value["id"];
    const text = keys.map((key) => value[key]).find((one) => typeof one === "string");
    if (typeof task !== "string" || typeof text !== "string")
      throw new UserError(`the line needs "prompt" (or "id") and "${keys.join('" or "')}"`, {
        file,
        line,
        character: 0,
        code: "guidance-file",
        action: "Add what is missing: each line is help for the task of that prompt.",
      });
    texts.set(task, [...(texts.get(task) ?? []), text]);
  }
  return {
    of: (task) => texts.get(task.prompt) ?? texts.get(task.id) ?? [],
    ...(measured > 0 && {
      omitted: `${measured} ${measured === 1 ? "line" : "lines"} of ${file} left out: rollouts that were generated to be measured (\`use: evaluate\` or \`estimate\`) must not help training`,
    }),
  };
}
