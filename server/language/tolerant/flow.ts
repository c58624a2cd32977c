/** Brackets of a half-written text: what is open at the end of its region is closed there. */
import { mapNode, type MapEntry, type Origin, type SourceNode } from "../../config/text/node.ts";
import type { Anchors } from "./anchors.ts";
import { closingQuote, colonEndsKey, endOfLine, plainEnd, plainScalar, unquoted } from "./scalars.ts";
import type { Watch } from "./watch.ts";

type OriginAt = (start: number, end: number) => Origin;

/** Reads a flow collection, or a scalar inside one, in `text` from `at` to at most `end`. */
export class FlowReader {
  /** Where it reads: afterwards, after what it has read. */
  at: number;
  private readonly open: ("[" | "{")[] = [];

  constructor(
    private readonly text: string,
    start: number,
    private readonly end: number,
    private readonly originAt: OriginAt,
    private readonly anchors: Anchors,
    private readonly watch: Watch,
  ) {
    this.at = start;
  }

  /** `inMap`: whether a map is open around this node, to whom a key in a list may belong. */
  node(inMap = false, depth = 0): SourceNode {
    this.space();
    const c = this.text[this.at];
    if (c === "&" || c === "!") {
      const name = /^\S[^\s,[\]{}]*/.exec(this.text.slice(this.at, this.end))?.[0] ?? c;
      this.at += name.length;
      const node = this.node(inMap, depth);
      if (c === "&") this.anchors.set(name.slice(1), node);
      return node;
    }
    if (depth >= 64 || (c !== "{" && c !== "[")) return this.scalar();
    this.open.push(c);
    const node = c === "{" ? this.map(depth) : this.list(inMap, depth);
    this.open.pop();
    return node;
  }

  private space(): void {
    for (;;) {
      while (this.at < this.end && /\s/.test(this.text[this.at] ?? "")) this.at++;
      if (this.at >= this.end || (this.text[this.at] !== "#" && !this.isNonsense())) return;
      this.at = endOfLine(this.text, this.at, this.end);
    }
  }

  /** A line of its own that begins as nothing can: its brackets are none. */
  private isNonsense(): boolean {
    const { at, text } = this;
    if (!"%@`".includes(text[at] ?? "")) return false;
    const isFirst = text.slice(text.lastIndexOf("\n", at) + 1, at).trim() === "";
    return isFirst && !this.watch.within(at, endOfLine(text, at, this.end));
  }

  scalar(): SourceNode {
    const start = this.at;
    const c = this.text[start];
    if (start < this.end && (c === '"' || c === "'")) return this.quoted(c, start);
    const end = plainEnd(this.text, start, this.end, true);
    const word = this.text.slice(start, end);
    this.at = end;
    this.watch.plain(start, end, this.open.at(-1));
    if (word.startsWith("*")) {
      const target = this.anchors.resolve(word.slice(1));
      if (target !== undefined) return target;
    }
    return { kind: "scalar", value: plainScalar(word), origin: this.originAt(start, end) };
  }

  private quoted(quote: string, start: number): SourceNode {
    const close = closingQuote(this.text, start, this.end);
    const end = close < 0 ? endOfLine(this.text, start, this.end) : close;
    this.at = close < 0 ? end : close + 1;
    this.watch.quoted(start, this.at, quote, close >= 0, this.open.at(-1));
    const value = unquoted(this.text.slice(start + 1, end), quote);
    return { kind: "scalar", value, origin: this.originAt(start, this.at) };
  }

  private map(depth: number): SourceNode {
    const start = this.at++;
    const entries = new Map<string, MapEntry>();
    for (;;) {
      this.space();
      if (this.at >= this.end) break;
      const c = this.text[this.at] ?? "";
      if (c === "}") {
        this.at++;
        break;
      }
      if (c === "," || c === "]" || c === ":") this.at++;
      else this.entry(entries, depth);
    }
    return mapNode(this.originAt(start, this.at), entries);
  }

  private entry(entries: Map<string, MapEntry>, depth: number): void {
    if (this.text[this.at] === "?") this.at++;
    const before = this.at;
    const key = this.node(true, depth + 1);
    if (this.at === before) this.at++;
    if (key.kind !== "scalar") return;
    const name = String(key.value ?? "");
    const value = this.value(depth);
    if (name === "<<" && value.kind === "map")
      for (const [inherited, entry] of value.entries)
        if (!entries.has(inherited)) entries.set(inherited, entry);
    if (name !== "<<") entries.set(name, { key: key.origin, value });
  }

  /** What follows a key, its colon included; nothing where there is none. */
  private value(depth: number): SourceNode {
    const end = this.at;
    this.space();
    const nothing: SourceNode = { kind: "scalar", value: null, origin: this.originAt(end, end) };
    if (this.text[this.at] !== ":" || this.at >= this.end) {
      this.at = end;
      return nothing;
    }
    this.at++;
    this.space();
    if (this.at >= this.end || ",}]".includes(this.text[this.at] ?? "")) return nothing;
    return this.node(true, depth + 1);
  }

  private list(inMap: boolean, depth: number): SourceNode {
    const start = this.at++;
    const items: SourceNode[] = [];
    for (;;) {
      this.space();
      const c = this.text[this.at] ?? "";
      // A closing brace of a map around it, or one of that map's keys: the list's own bracket is missing.
      if (this.at >= this.end || (c === "}" && inMap)) break;
      if (c === "]") {
        this.at++;
        break;
      }
      if (c === "," || c === "}" || c === ":") {
        this.at++;
        continue;
      }
      const before = this.at;
      const item = this.node(inMap, depth + 1);
      if (this.at === before) this.at++;
      if (item.kind === "scalar" && this.isKey()) {
        if (inMap && items.length > 0) {
          this.at = before;
          break;
        }
        items.push(this.pair(item, depth));
      } else items.push(item);
    }
    return { kind: "list", items, origin: this.originAt(start, this.at) };
  }

  private isKey(): boolean {
    return this.at < this.end && this.text[this.at] === ":" && colonEndsKey(this.text, this.at, true);
  }

  /** `[a: 1]`: a map of one key. */
  private pair(key: SourceNode & { kind: "scalar" }, depth: number): SourceNode {
    const value = this.value(depth);
    return mapNode(key.origin, [[String(key.value ?? ""), { key: key.origin, value }]]);
  }
}
