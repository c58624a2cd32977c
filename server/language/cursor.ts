/**
 * Where a half-written document would go on: the word at the cursor is replaced by a marker that makes the text
 * whole enough to parse, and the marker's place in the tree is the answer.
 */
import type { Position, Range } from "../config/diagnostic.ts";
import type { SourceNode } from "../config/node.ts";
import { parseSource } from "../config/source.ts";
import type { Step } from "./spot.ts";

export interface Cursor {
  /** Of the map whose key, or of the place whose value, is being written. */
  readonly path: readonly Step[];
  readonly writing: "key" | "value" | "either";
  /** The word so far. */
  readonly range: Range;
  /** The document without the marker, as far as it parses. */
  readonly root: SourceNode | undefined;
  /** Keys already in the map. */
  readonly taken: readonly string[];
  /** In brackets a key needs no line of its own. */
  readonly flow: boolean;
}

const marker = "gradusCursorMarker";

export function cursorAt(text: string, position: Position): Cursor | undefined {
  const lines = text.split("\n");
  const line = (lines[position.line] ?? "").replace(/\r$/, "");
  const head = line.slice(0, position.character);
  const word = /[\w./:@+-]*$/.exec(head)?.[0] ?? "";
  const plain =
    /^.*[:,[{]\s*/.test(head) || !word.includes(":") ? word : word.slice(word.lastIndexOf(":") + 1);
  const tail = line.slice(position.character);
  const rest = /^[\w./@+-]*/.exec(tail)?.[0] ?? "";
  const start = position.character - plain.length;
  const range = {
    start: { line: position.line, character: start },
    end: { line: position.line, character: position.character + rest.length },
  };
  if (/(^|\s)#/.test(head)) return undefined;
  const open = innermost(lines.slice(0, position.line).join("\n") + "\n" + head.slice(0, start));
  const after = tail.slice(rest.length);
  const lead = head.slice(0, start);
  const writing = kindOf(lead, open, after);
  for (const insert of writing === "key" || writing === "either"
    ? [/^\s*:/.test(after) ? marker : `${marker}: x`, marker]
    : [marker]) {
    const whole = [
      ...lines.slice(0, position.line),
      lead + insert + after,
      ...lines.slice(position.line + 1),
    ].join("\n");
    const { root } = parseSource("cursor", whole, { file: "cursor", folder: "", via: [], layer: "file" });
    const found = root === undefined ? undefined : find(root, []);
    if (found !== undefined) return { ...found, writing, range, root, flow: open !== undefined };
  }
  return undefined;
}

/** `{ a: ` and `a: ` wait for a value; a line's beginning, `{` and `, ` for a key; `- ` for either. */
function kindOf(lead: string, open: "[" | "{" | undefined, after: string): Cursor["writing"] {
  if (/^\s*:/.test(after)) return "key";
  if (/:\s+$/.test(lead)) return "value";
  if (open === "[") return "either";
  if (open === "{") return "key";
  return /^\s*(-\s+)+$/.test(lead) ? "either" : "key";
}

/** The bracket that is open at the end of a text; quotes and comments are passed over. */
function innermost(text: string): "[" | "{" | undefined {
  const open: ("[" | "{")[] = [];
  for (const [token] of text.matchAll(/"(?:\\.|[^"\\])*"|'[^']*'|(?<=^|\s)#[^\n]*|[[\]{}]/gm)) {
    if (token === "[" || token === "{") open.push(token);
    else if (token === "]" || token === "}") open.pop();
  }
  return open.at(-1);
}

function find(
  node: SourceNode,
  path: readonly Step[],
): { path: readonly Step[]; taken: readonly string[] } | undefined {
  if (node.kind === "scalar") return node.value === marker ? { path, taken: [] } : undefined;
  const below: Iterable<readonly [Step, SourceNode]> =
    node.kind === "list"
      ? node.items.entries()
      : [...node.entries].map(([key, { value }]) => [key, value] as const);
  if (node.kind === "map" && node.entries.has(marker))
    return { path, taken: [...node.entries.keys()].filter((key) => key !== marker) };
  for (const [step, value] of below) {
    const found = find(value, [...path, step]);
    if (found !== undefined) return found;
  }
  return undefined;
}
