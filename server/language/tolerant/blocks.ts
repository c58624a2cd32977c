/** Maps and lists of a half-written text, by the indentation of its lines. */
import { mapNode, type MapEntry, type SourceNode } from "../../config/text/node.ts";
import { InlineReader } from "./inline.ts";
import { columnOf, type SourceLine } from "./lines.ts";
import { plainEnd } from "./scalars.ts";

export class BlockReader extends InlineReader {
  private depth = 0;

  document(): SourceNode | undefined {
    let first: SourceNode | undefined;
    for (;;) {
      const next = this.peek();
      if (next === undefined) return first;
      const before = this.line;
      const node = this.node(next.start, -1);
      if (this.line === before) this.line++;
      // What comes after a root that has ended can only be the rest of it, with something odd between.
      first = first === undefined ? node : together(first, node);
    }
  }

  /** The node that begins at `start` in this line; its further lines lie deeper than `parent`. */
  private node(start: number, parent: number): SourceNode {
    if (this.depth > 64) return this.inline(start, parent);
    this.depth++;
    const node = this.isDash(start)
      ? this.list(start, parent)
      : this.keyAt(start) === undefined && !this.isFirstKey(start)
        ? this.inline(start, parent)
        : this.map(start, parent);
    this.depth--;
    return node;
  }

  /** A word above keys of its own depth will be one of them. */
  private isFirstKey(start: number): boolean {
    const { from, to } = this.current();
    if (!/^[^\s"'[\]{}]+\s*(?:#.*)?$/.test(this.text.slice(start, to))) return false;
    for (let at = this.line + 1; at < this.lines.length; at++) {
      const next = this.lines[at];
      if (next === undefined || next.start >= next.to || this.silent(next)) continue;
      return columnOf(next) === start - from && this.keyAt(next.start, next.to) !== undefined;
    }
    return false;
  }

  /** `dashes`: the column of a list around it, whose next item ends it. */
  private map(start: number, parent: number, dashes?: number): SourceNode {
    const entries = new Map<string, MapEntry>();
    let at: number | undefined = start;
    while (at !== undefined) {
      this.entry(entries, at);
      at = this.nextKey(parent, dashes);
    }
    return mapNode(this.originAt(start, this.endBefore()), entries);
  }

  /** Where the next key of a map begins; what is between and is none is passed over. */
  private nextKey(parent: number, dashes: number | undefined): number | undefined {
    for (;;) {
      const line = this.peek();
      if (line === undefined || columnOf(line) <= parent) return undefined;
      if (!this.isDash(line.start)) return line.start;
      if (columnOf(line) === dashes) return undefined;
      this.list(line.start, columnOf(line) - 1, columnOf(line));
    }
  }

  private entry(entries: Map<string, MapEntry>, start: number): void {
    const line = this.current();
    const key = this.keyAt(start);
    if (key === undefined) return this.loneWord(entries, start, line);
    const column = start - line.from;
    const origin = this.originAt(key.start, key.end);
    const quote = this.text[key.start] ?? "";
    if (quote === '"' || quote === "'") this.watch.quoted(key.start, key.end, quote, true);
    else this.watch.plain(key.start, key.end);
    const value = this.value(key.after, column);
    if (key.name === "<<" && value.kind === "map") {
      for (const [name, inherited] of value.entries) if (!entries.has(name)) entries.set(name, inherited);
    } else entries.set(key.name, { key: origin, value });
  }

  /** A key that is half written has no colon yet. */
  private loneWord(entries: Map<string, MapEntry>, start: number, line: SourceLine): void {
    this.line++;
    const end = plainEnd(this.text, start, line.to, false);
    const word = this.text.slice(start, end);
    this.watch.plain(start, end);
    const value = this.blockOf(start - line.from, end);
    if (!/^[\w./@+-]+$/.test(word) && !this.watch.within(start, end)) return;
    if (!entries.has(word)) entries.set(word, { key: this.originAt(start, end), value });
  }

  /** A key whose colon was lost still has the keys and items that lie deeper below it. */
  private blockOf(column: number, end: number): SourceNode {
    const next = this.below(column);
    const isBlock =
      next !== undefined &&
      columnOf(next) > column &&
      (this.isDash(next.start) || this.keyAt(next.start, next.to) !== undefined);
    if (isBlock) return this.node(next.start, column);
    return { kind: "scalar", value: null, origin: this.originAt(end, end) };
  }

  /** What a key at `column` has: on its line, or deeper below. A list may be at the key's own depth. */
  private value(after: number, column: number): SourceNode {
    const { start, anchor } = this.properties(after);
    const found = this.valueAt(start, after, column);
    if (anchor !== undefined) this.anchors.set(anchor, found);
    return found;
  }

  private valueAt(start: number, after: number, column: number): SourceNode {
    if (start < this.current().to && this.text[start] !== "#") return this.inline(start, column);
    this.line++;
    const next = this.below(column);
    if (next !== undefined) {
      const depth = columnOf(next);
      if (depth > column) return this.node(next.start, column);
      if (depth === column && this.isDash(next.start)) return this.list(next.start, column - 1, column);
    }
    return { kind: "scalar", value: null, origin: this.originAt(after, after) };
  }

  /** Past white space, an anchor and a tag. */
  private properties(from: number): { start: number; anchor: string | undefined } {
    const { to } = this.current();
    let start = from;
    let anchor: string | undefined;
    for (;;) {
      while (start < to && /[ \t]/.test(this.text[start] ?? "")) start++;
      const property = /^(?:&[^\s,[\]{}]+|![^\s,[\]{}]*)(?=\s|$)/.exec(this.text.slice(start, to))?.[0];
      if (property === undefined) return { start, anchor };
      if (property.startsWith("&")) anchor = property.slice(1);
      start += property.length;
    }
  }

  /** `own`: the column of the dashes where it may be the parent's. */
  private list(start: number, parent: number, own?: number): SourceNode {
    const items: SourceNode[] = [];
    let at: number | undefined = start;
    while (at !== undefined) {
      this.item(items, at);
      const line = this.peek();
      const column = line === undefined ? -1 : columnOf(line);
      at = line === undefined || column <= parent ? undefined : line.start;
      if (line !== undefined && own === column && !this.isDash(line.start)) at = undefined;
    }
    return { kind: "list", items, origin: this.originAt(start, this.endBefore()) };
  }

  private item(items: SourceNode[], start: number): void {
    const line = this.current();
    const column = start - line.from;
    if (!this.isDash(start)) return this.dashless(items, start, column);
    const { start: content, anchor } = this.properties(start + 1);
    let item: SourceNode;
    if (content < line.to && this.text[content] !== "#") item = this.node(content, column);
    else {
      this.line++;
      const next = this.below(column);
      const deeper = next !== undefined && columnOf(next) > column;
      item = deeper
        ? this.node(next.start, column)
        : { kind: "scalar", value: null, origin: this.originAt(start + 1, start + 1) };
    }
    if (anchor !== undefined) this.anchors.set(anchor, item);
    items.push(item);
  }

  /** Among dashes a line without one: keys are the item's above, indented wrongly; a word is an item being written. */
  private dashless(items: SourceNode[], start: number, column: number): void {
    const last = items.at(-1);
    const isKey = this.keyAt(start) !== undefined;
    const node = isKey ? this.map(start, column - 1, column) : this.inline(start, column - 1);
    if (node.kind === "map" && last?.kind === "map") items[items.length - 1] = joined(last, node);
    else if (node.kind === "scalar" && typeof node.value === "string") items.push(node);
  }
}

const joined = (first: SourceNode & { kind: "map" }, rest: SourceNode & { kind: "map" }): SourceNode =>
  mapNode(first.origin, [...first.entries, ...rest.entries]);

/** A word next to a map is a key of it that is half written. */
function together(first: SourceNode, second: SourceNode): SourceNode {
  const [one, two] = [asMap(first), asMap(second)];
  if (one === undefined || two === undefined) return first.kind === "scalar" ? second : first;
  return first.kind === "map" || second.kind === "map" ? joined(one, two) : first;
}

function asMap(node: SourceNode): (SourceNode & { kind: "map" }) | undefined {
  if (node.kind !== "scalar") return node.kind === "map" ? node : undefined;
  if (typeof node.value !== "string") return undefined;
  const nothing: SourceNode = { ...node, value: null };
  return mapNode(node.origin, [[node.value, { key: node.origin, value: nothing }]]);
}
