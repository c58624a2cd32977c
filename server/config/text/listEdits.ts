/** A list of the text written as a map that addresses the items of the list below it, or with items put before its own. */
import type { TextEdit } from "../check/diagnostic.ts";
import { bottomOf } from "./edits.ts";
import type { ListNode, SourceNode } from "./node.ts";

/** One item of the list as an entry of the map. */
export interface NamedItem {
  readonly name: string;
  readonly node: SourceNode;
  /** Keys of the item below that this one does not have, and that would show through. */
  readonly without: readonly string[];
}

const nulls = (keys: readonly string[]): string[] => keys.map((key) => `${key}: null`);

/** The text of a node, its further lines unchanged. */
function written({ origin: { range } }: SourceNode, lines: readonly string[]): string {
  const { start, end } = range;
  const found = lines.slice(start.line, end.line + 1);
  found[found.length - 1] = found.at(-1)?.slice(0, end.character) ?? "";
  found[0] = found[0]?.slice(start.character) ?? "";
  return found.join("\n");
}

const isFlowMap = (text: string): boolean => text.trimEnd().endsWith("}") && text.startsWith("{");

/** An item as the value of a key on the key's line; undefined: it is a block. */
function inFlow({ node, without }: NamedItem, lines: readonly string[]): string | undefined {
  const text = written(node, lines);
  if (node.kind === "scalar") return `{ ${[`env: ${text}`, ...nulls(without)].join(", ")} }`;
  if (!isFlowMap(text)) return undefined;
  return without.length === 0
    ? text
    : `${text.trimEnd().slice(0, -1).trimEnd()}, ${nulls(without).join(", ")} }`;
}

/** The list as a map; `gone` are names of items below that are to be left out. */
export function asMap(
  list: ListNode,
  items: readonly NamedItem[],
  gone: readonly string[],
  lines: readonly string[],
  flow: boolean,
): TextEdit | undefined {
  if (!flow) return blockAsMap(list, items, gone, lines);
  const entries = items.map((item) => `${item.name}: ${inFlow(item, lines) ?? "null"}`);
  return { range: list.origin.range, newText: `{ ${[...nulls(gone), ...entries].join(", ")} }` };
}

/** Line by line, so that comments and the style of each item stay. */
function blockAsMap(
  list: ListNode,
  items: readonly NamedItem[],
  gone: readonly string[],
  lines: readonly string[],
): TextEdit | undefined {
  const first = list.items[0]?.origin.range.start.line ?? 0;
  const last = bottomOf(list);
  const dash = lines[first]?.indexOf("-") ?? -1;
  if (dash < 0) return undefined;
  // A list may be indented as little as its key, a map may not.
  const shift = dash === 0 || !isDeeper(lines, first, dash) ? "  " : "";
  const indent = shift + " ".repeat(dash);
  const text: string[] = nulls(gone).map((entry) => indent + entry);
  for (let line = first; line <= last; line++) {
    const item = items.find(({ node }) => node.origin.range.start.line === line);
    const now = lines[line] ?? "";
    if (item === undefined) text.push(now.trim() === "" ? now : shift + now);
    else {
      const { character } = item.node.origin.range.start;
      if (!/^\s*-\s+$/.test(now.slice(0, character))) return undefined;
      const one = inFlow(item, lines);
      const inner = shift + " ".repeat(character);
      if (one === undefined) text.push(`${indent}${item.name}:`, inner + now.slice(character));
      else {
        const bottom = bottomOf(item.node);
        const rest = lines[bottom]?.slice(item.node.origin.range.end.character) ?? "";
        text.push(`${indent}${item.name}: ${one}${rest}`);
        line = bottom;
      }
    }
    const ended = items.find(({ node }) => bottomOf(node) === line);
    if (ended !== undefined && inFlow(ended, lines) === undefined)
      text.push(
        ...nulls(ended.without).map(
          (entry) => shift + " ".repeat(ended.node.origin.range.start.character) + entry,
        ),
      );
  }
  const end = { line: last, character: lines[last]?.length ?? 0 };
  return { range: { start: { line: first, character: 0 }, end }, newText: text.join("\n") };
}

/** Whether the list is indented further than the key above it. */
function isDeeper(lines: readonly string[], first: number, dash: number): boolean {
  for (let line = first - 1; line >= 0; line--) {
    const text = lines[line] ?? "";
    if (text.trim() !== "" && !text.trimStart().startsWith("#")) return text.search(/\S/) < dash;
  }
  return false;
}

/** The list with items, each in one line, before its first. */
export function withItems(
  list: ListNode,
  added: readonly string[],
  lines: readonly string[],
  flow: boolean,
): TextEdit | undefined {
  const [first] = list.items;
  if (first === undefined) return undefined;
  if (flow) {
    const { start } = first.origin.range;
    return { range: { start, end: start }, newText: added.map((item) => `${item}, `).join("") };
  }
  const { line } = first.origin.range.start;
  const dash = lines[line]?.indexOf("-") ?? -1;
  if (dash < 0) return undefined;
  const at = { line, character: dash };
  return {
    range: { start: at, end: at },
    newText: added.map((item) => `- ${item}\n${" ".repeat(dash)}`).join(""),
  };
}

/** The list with items, each in one line, after its last. */
export function withLast(
  list: ListNode,
  added: readonly string[],
  lines: readonly string[],
  flow: boolean,
): TextEdit | undefined {
  const [first, last] = [list.items[0], list.items.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  if (flow) {
    const { end } = last.origin.range;
    return { range: { start: end, end }, newText: added.map((item) => `, ${item}`).join("") };
  }
  const dash = lines[first.origin.range.start.line]?.indexOf("-") ?? -1;
  if (dash < 0) return undefined;
  const line = bottomOf(list);
  const at = { line, character: lines[line]?.length ?? 0 };
  return {
    range: { start: at, end: at },
    newText: added.map((item) => `\n${" ".repeat(dash)}- ${item}`).join(""),
  };
}
