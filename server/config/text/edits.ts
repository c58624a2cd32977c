/** Mends of a config as edits of its text: values set, keys removed, in whichever style the file is written. */
import { segments } from "../address.ts";
import type { Position, Range } from "../../lib/lines.ts";
import type { Fix, TextEdit } from "../check/diagnostic.ts";
import { before, touch } from "./textEdits.ts";
import { perObject } from "../../lib/perObject.ts";
import { isNull, textOf, type ListNode, type MapEntry, type MapNode, type SourceNode } from "./node.ts";
import { itemNamed, placesIn } from "./placesIn.ts";

/** Where a value is that `--set` addresses so. */
export const pathOf = (address: string): Path =>
  segments(address).map((key) => (/^\d+$/.test(key) ? Number(key) : key));

/** From the top of the file: keys, names of tasks and stages, indices of other lists. */
export type Path = readonly (string | number)[];

interface Found {
  readonly node: SourceNode;
  /** How much of the path leads there. */
  readonly depth: number;
}

const isInside = ({ start, end }: Range, outer: Range): boolean =>
  !before(start, outer.start) && !before(outer.end, end);

export class SourceEdits {
  private readonly lines: readonly string[];
  private readonly newline: string;

  /** `root` is the tree of this very text, nothing merged. */
  constructor(
    text: string,
    private readonly root: SourceNode | undefined,
  ) {
    this.newline = text.includes("\r\n") ? "\r\n" : "\n";
    this.lines = text.split(/\r?\n/);
  }

  /** Writes a value, YAML, where the file has another one or none. undefined: the text gives no safe place for it. */
  set(path: Path, value: string, title: string, preferred = true): Fix | undefined {
    const edit = this.setting(path, value);
    return edit && { title, edits: [edit], preferred };
  }

  /** Takes a key with its value, or an item of a list, out of the file. */
  remove(path: Path, title: string, preferred = true): Fix | undefined {
    const edit = this.removal(path);
    return edit && { title, edits: [edit], preferred };
  }

  /** Takes a key from one place to another, with the text of its value. */
  move(from: Path, to: Path, title: string, preferred = true): Fix | undefined {
    const value = this.at(from);
    const text = value && this.inOneLine(value.origin.range);
    const removal = this.removal(from);
    if (text === undefined || removal === undefined || this.at(to) !== undefined) return undefined;
    const setting = this.setting(to, text);
    if (setting === undefined || touch(removal.range, setting.range)) return undefined;
    return { title, edits: [removal, setting], preferred };
  }

  /** Gives a key another name. */
  rename(path: Path, name: string, title: string, preferred = true): Fix | undefined {
    const entry = this.entryAt(path);
    return entry && { title, edits: [{ range: entry.key.range, newText: name }], preferred };
  }

  /** Rewrites the list at a path. */
  rewriteList(
    path: Path,
    rewrite: (list: ListNode, lines: readonly string[], flow: boolean) => TextEdit | undefined,
    title: string,
  ): Fix | undefined {
    const list = this.at(path);
    const entry = this.entryAt(path);
    if (list?.kind !== "list" || entry === undefined || !this.ownsValue(path, entry)) return undefined;
    if (list.items.some(({ origin }) => !isInside(origin.range, list.origin.range))) return undefined;
    const edit = rewrite(list, this.lines, this.isFlow(list));
    return edit && { title, edits: [edit], preferred: true };
  }

  /** The text of a value on one line. */
  text(path: Path): string | undefined {
    const node = this.at(path);
    return node && this.inOneLine(node.origin.range);
  }

  /** What the file itself has at a path. */
  at(path: Path): SourceNode | undefined {
    const found = this.deepest(path);
    return found?.depth === path.length ? found.node : undefined;
  }

  private deepest(path: Path): Found | undefined {
    let node = this.root;
    if (node === undefined) return undefined;
    for (const [depth, key] of path.entries()) {
      const below: SourceNode | undefined = step(node, key);
      if (below === undefined) return { node, depth };
      node = below;
    }
    return { node, depth: path.length };
  }

  private setting(path: Path, value: string): TextEdit | undefined {
    if (this.root === undefined || isNull(this.root))
      return { range: point({ line: 0, character: 0 }), newText: `${nested(path, value)}${this.newline}` };
    const found = this.deepest(path);
    if (found === undefined) return undefined;
    const rest = path.slice(found.depth);
    const above = path.slice(0, found.depth);
    const entry = this.entryAt(above);
    const { node } = found;
    // What an alias or a merge key brings in is elsewhere in the text: a change there would change it there too.
    if (entry !== undefined && !this.ownsValue(above, entry)) return undefined;
    if (isNull(node)) return this.afterColon(entry, rest.length === 0 ? value : `{ ${nested(rest, value)} }`);
    if (rest.length === 0) return this.replaced(node, value);
    if (node.kind === "map") return this.intoMap(node, nested(rest, value));
    const short = textOf(node);
    const written = this.inOneLine(node.origin.range);
    if (short === undefined || written === undefined) return undefined;
    const key = above.length === 1 && above[0] === "model" ? "base" : "use";
    return this.replaced(node, `{ ${key}: ${written}, ${nested(rest, value)} }`);
  }

  private entryAt(path: Path): MapEntry | undefined {
    const last = path.at(-1);
    const parent = this.at(path.slice(0, -1));
    return parent?.kind === "map" && last !== undefined ? parent.entries.get(String(last)) : undefined;
  }

  private ownsValue(path: Path, { key, value }: MapEntry): boolean {
    const parent = this.at(path.slice(0, -1));
    return (
      parent !== undefined &&
      isInside(key.range, parent.origin.range) &&
      !before(value.origin.range.start, key.range.end)
    );
  }

  private afterColon(entry: MapEntry | undefined, value: string): TextEdit | undefined {
    if (entry === undefined) return undefined;
    const { end, start } = entry.value.origin.range;
    // A written null, or nothing at all after the colon.
    if (end.line !== start.line || end.character !== start.character)
      return { range: entry.value.origin.range, newText: value };
    const { line, character } = entry.key.range.end;
    const colon = this.lines[line]?.indexOf(":", character) ?? -1;
    return colon < 0 ? undefined : { range: point({ line, character: colon + 1 }), newText: ` ${value}` };
  }

  private replaced(node: SourceNode, value: string): TextEdit | undefined {
    return node.kind === "scalar" || this.isFlow(node)
      ? { range: node.origin.range, newText: value }
      : undefined;
  }

  private isFlow({ origin: { range } }: SourceNode): boolean {
    const { line, character } = range.start;
    return ["{", "["].includes(this.lines[line]?.[character] ?? "");
  }

  /** Behind the last entry of a flow map; in a block, on a line of its own. */
  private intoMap(node: MapNode, text: string): TextEdit | undefined {
    const entries = own(node);
    const last = entries.at(-1);
    if (this.isFlow(node)) {
      if (last === undefined) return { range: node.origin.range, newText: `{ ${text} }` };
      if (this.isBare(last)) return undefined;
      return { range: point(last.value.origin.range.end), newText: `, ${text}` };
    }
    const [first] = entries;
    if (first === undefined) return undefined;
    const indent = " ".repeat(first.key.range.start.character);
    const line = lastLine(last ?? first);
    const end = { line, character: this.lines[line]?.length ?? 0 };
    return { range: point(end), newText: `${this.newline}${indent}${text}` };
  }

  /** A key without a value. */
  private isBare({ value: { origin } }: MapEntry): boolean {
    const { start, end } = origin.range;
    return start.line === end.line && start.character === end.character;
  }

  private removal(path: Path): TextEdit | undefined {
    const parent = this.at(path.slice(0, -1));
    const last = path.at(-1);
    if (parent === undefined || last === undefined) return undefined;
    if (parent.kind === "list") return this.itemRemoval(parent, last);
    if (parent.kind !== "map") return undefined;
    const entry = parent.entries.get(String(last));
    if (entry === undefined || !isInside(entry.key.range, parent.origin.range)) return undefined;
    const entries = own(parent);
    const index = placesIn(entries).get(entry) ?? -1;
    const span = (at: number): Range | undefined => {
      const one = entries[at];
      return one && { start: one.key.range.start, end: endOf(one.key.range, one.value) };
    };
    return this.isFlow(parent) ? flowRemoval(parent, span, index) : this.blockRemoval(entries, index);
  }

  private itemRemoval(list: ListNode, which: string | number): TextEdit | undefined {
    const item = step(list, which);
    if (item === undefined) return undefined;
    if (this.isFlow(list)) {
      const index = typeof which === "number" ? which : (placesIn(list.items).get(item) ?? -1);
      return flowRemoval(list, (at) => list.items[at]?.origin.range, index);
    }
    const { line, character } = item.origin.range.start;
    const alone = this.lines[line]?.slice(0, character).trim() === "-";
    return alone && list.items.length > 1 ? this.linesFrom(line, bottomOf(item)) : undefined;
  }

  private blockRemoval(entries: readonly MapEntry[], index: number): TextEdit | undefined {
    const entry = entries[index];
    if (entry === undefined || entries.length === 1) return undefined;
    const { start } = entry.key.range;
    const lead = this.lines[start.line]?.slice(0, start.character) ?? "";
    // The first key of a list's item: the dash stays.
    if (lead.trim() !== "") {
      const next = entries[index + 1];
      return next === undefined ? undefined : { range: { start, end: next.key.range.start }, newText: "" };
    }
    return this.linesFrom(start.line, lastLine(entry));
  }

  private linesFrom(top: number, bottom: number): TextEdit {
    const range = { start: { line: top, character: 0 }, end: { line: bottom + 1, character: 0 } };
    if (bottom + 1 < this.lines.length) return { range, newText: "" };
    const above = { line: top - 1, character: this.lines[top - 1]?.length ?? 0 };
    const end = { line: bottom, character: this.lines[bottom]?.length ?? 0 };
    return { range: { start: above, end }, newText: "" };
  }

  private inOneLine({ start, end }: Range): string | undefined {
    if (start.line !== end.line) return undefined;
    const text = this.lines[start.line]?.slice(start.character, end.character);
    return text === "" ? undefined : text;
  }
}

const point = (at: Position): Range => ({ start: at, end: at });

function step(node: SourceNode, key: string | number): SourceNode | undefined {
  if (node.kind === "map") return node.entries.get(String(key))?.value;
  if (node.kind !== "list") return undefined;
  if (typeof key === "number") return node.items[key];
  return itemNamed(node, key);
}

/** `a: { b: value }` for the path a, b. */
const nested = (path: Path, value: string): string =>
  path
    .slice(0, -1)
    .reduceRight<string>((inner, key) => `${key}: { ${inner} }`, `${path.at(-1) ?? ""}: ${value}`);

/** Entries of the map itself, in the order of the text: not those of a merge key. */
const own = perObject((node: MapNode): readonly MapEntry[] => {
  const { range } = node.origin;
  return [...node.entries.values()]
    .filter(({ key }) => isInside(key.range, range))
    .sort((a, b) => (before(a.key.range.start, b.key.range.start) ? -1 : 1));
});

/** Where an entry ends: its value may be elsewhere, at an alias's anchor. */
const endOf = (key: Range, value: SourceNode): Position =>
  before(value.origin.range.end, key.end) ? key.end : value.origin.range.end;

function flowRemoval(
  { origin }: SourceNode,
  spanAt: (index: number) => Range | undefined,
  index: number,
): TextEdit | undefined {
  const [span, previous, next] = [spanAt(index), spanAt(index - 1), spanAt(index + 1)];
  if (span === undefined) return undefined;
  if (previous !== undefined) return { range: { start: previous.end, end: span.end }, newText: "" };
  if (next !== undefined) return { range: { start: span.start, end: next.start }, newText: "" };
  // The only one: the brackets stay.
  const { start, end } = origin.range;
  const inside = {
    start: { line: start.line, character: start.character + 1 },
    end: { line: end.line, character: end.character - 1 },
  };
  return { range: inside, newText: "" };
}

/** The last line that an entry takes. */
function lastLine({ key, value }: MapEntry): number {
  return Math.max(key.range.end.line, bottomOf(value));
}

export function bottomOf(node: SourceNode): number {
  const { start, end } = lastLeaf(node).origin.range;
  // A block of text ends where the next line begins.
  return end.character === 0 && end.line > start.line ? end.line - 1 : end.line;
}

function lastLeaf(node: SourceNode): SourceNode {
  const below =
    node.kind === "map" ? own(node).at(-1)?.value : node.kind === "list" ? node.items.at(-1) : undefined;
  if (below === undefined) return node;
  const leaf = lastLeaf(below);
  // A flow collection's bracket may close further down than what it holds.
  return before(leaf.origin.range.end, node.origin.range.end) && node.origin.range.end.character > 0
    ? node
    : leaf;
}
