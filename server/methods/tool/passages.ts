/** What a search looks through: passages of the texts, Markdown files and JSONL files in a folder. */
import { readdirSync, statSync } from "node:fs";
import { basename, extname, join } from "node:path";
import { readFailure, UserError } from "../../../shared/lib/errors.ts";
import { isObject, parseShallow, type JsonObject } from "../../../shared/lib/json.ts";
import { readText } from "../../lib/inputFile.ts";
import { relativePath } from "../../../shared/lib/slashes.ts";

export interface Passage {
  readonly title: string;
  readonly text: string;
}

const endings = [".txt", ".md", ".markdown", ".jsonl"];

function refusal(path: string, message: string, line?: number): UserError {
  return new UserError(`search: ${message}`, {
    file: path,
    ...(line === undefined ? {} : { line, character: 0 }),
    code: "tool-search",
    action:
      "Name a folder with .txt, .md or .jsonl files in `folder`; a line of JSONL needs a `text` or `contents`.",
  });
}

function filesIn(path: string): readonly string[] {
  try {
    if (statSync(path).isFile()) return [path];
    return readdirSync(path, { recursive: true, encoding: "utf8" })
      .filter((name) => endings.includes(extname(name)))
      .sort()
      .map((name) => join(path, name));
  } catch (error) {
    throw refusal(path, `${path} cannot be read: ${readFailure(error)}`);
  }
}

/** Paragraphs of a text in passages of at least so many words, but the last. */
function cutText(title: string, text: string, words: number): Passage[] {
  const passages: Passage[] = [];
  let kept: string[] = [];
  const close = (): void => {
    if (kept.length > 0) passages.push({ title, text: kept.join(" ") });
    kept = [];
  };
  for (const paragraph of text.split(/\n\s*\n/)) {
    for (const word of paragraph.split(/\s+/).filter((part) => part !== "")) {
      kept.push(word);
      // A paragraph longer than two passages is cut within.
      if (kept.length >= 2 * words) close();
    }
    if (kept.length >= words) close();
  }
  close();
  return passages;
}

const textOf = (row: JsonObject, ...keys: readonly string[]): string | undefined =>
  keys.map((key) => row[key]).find((value) => typeof value === "string");

/** A line as Search-R1's corpora have it: `contents` is the title in quotes, a new line, and the text. */
function passageOf(line: string, file: string, at: number): Passage {
  let row: unknown;
  try {
    row = parseShallow(line);
  } catch {
    throw refusal(file, "the line is no JSON", at);
  }
  const text = isObject(row) ? textOf(row, "text", "contents") : undefined;
  if (!isObject(row) || text === undefined) throw refusal(file, "the line has no `text` or `contents`", at);
  const title = textOf(row, "title");
  if (title !== undefined) return { title, text };
  const [first = "", ...rest] = text.split(/\r?\n/);
  const inQuotes = /^"(.*)"$/.exec(first)?.[1];
  return inQuotes === undefined
    ? { title: textOf(row, "id") ?? "", text }
    : { title: inQuotes, text: rest.join("\n") };
}

/** @param words of a passage cut from a text file @throws UserError naming what cannot be read */
export function passagesIn(path: string, words: number): readonly Passage[] {
  const passages = filesIn(path).flatMap((file) => {
    const text = readText(file);
    if (extname(file) !== ".jsonl") {
      const heading = /^#\s+(.+)$/m.exec(text)?.[1];
      return cutText(heading ?? (relativePath(path, file) || basename(file)), text, words);
    }
    return text.split("\n").flatMap((line, at) => (line.trim() === "" ? [] : [passageOf(line, file, at)]));
  });
  if (passages.length === 0) throw refusal(path, `${path} has no text to search`);
  return passages;
}
