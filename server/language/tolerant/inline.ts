/** What is in the lines of a half-typed text: scalars, and brackets with what is in them. */
import type { SourceNode } from "../../config/text/node.ts";
import { Anchors } from "./anchors.ts";
import { FlowReader } from "./flow.ts";
import { columnOf, LineReader } from "./lines.ts";
import { closingQuote, endOfLine, plainEnd, plainScalar, unquoted } from "./scalars.ts";

export class InlineReader extends LineReader {
  protected readonly anchors = new Anchors();

  /** A scalar or a flow collection, from `start` in this line; afterwards the line is the next one. */
  protected inline(start: number, parent: number): SourceNode {
    const c = this.text[start] ?? "";
    if (c === "{" || c === "[") return this.flow(start, parent);
    if (c === '"' || c === "'") return this.quoted(start, parent);
    if (/^[|>][-+\d]*[ \t]*(?:#.*)?$/.test(this.text.slice(start, this.current().to)))
      return this.blockScalar(start, parent);
    return this.plain(start, parent);
  }

  protected flow(start: number, parent: number): SourceNode {
    const reader = new FlowReader(
      this.text,
      start,
      this.regionEnd(parent),
      (from, to) => this.originAt(from, to),
      this.anchors,
      this.watch,
    );
    const node = reader.node();
    this.skipTo(reader.at);
    return node;
  }

  protected quoted(start: number, parent: number): SourceNode {
    const quote = this.text[start] ?? '"';
    const sameLine = closingQuote(this.text, start, this.current().to);
    const close = sameLine >= 0 ? sameLine : this.closeBelow(start, parent);
    const end = close < 0 ? endOfLine(this.text, start) : close;
    const value = unquoted(this.text.slice(start + 1, end), quote);
    this.watch.quoted(start, close < 0 ? end : close + 1, quote, close >= 0);
    this.skipTo(end);
    return { kind: "scalar", value, origin: this.originAt(start, close < 0 ? end : close + 1) };
  }

  /** A quote over several lines is believed where no key lies between. */
  protected closeBelow(start: number, parent: number): number {
    const close = closingQuote(this.text, start, this.regionEnd(parent));
    return close >= 0 && !/\n\s*(?:- )?[\w"'-]+:(?:\s|$)/.test(this.text.slice(start, close)) ? close : -1;
  }

  protected blockScalar(start: number, parent: number): SourceNode {
    const folded = this.text[start] === ">";
    const keepsEnd = this.text[start + 1] !== "-";
    const held: string[] = [];
    let depth = 0;
    let end = this.current().to;
    for (this.line++; this.line < this.lines.length; this.line++) {
      const line = this.current();
      const blank = line.start >= line.to;
      if (!blank && columnOf(line) <= parent) break;
      if (!blank && depth === 0) depth = columnOf(line);
      held.push(blank ? "" : this.text.slice(line.from + Math.min(depth, columnOf(line)), line.to));
      if (!blank) end = line.to;
    }
    while (held.at(-1) === "") held.pop();
    const text = folded
      ? held
          .join("\n")
          .replaceAll(/([^\n])\n(?!\n)(?=\S)/g, "$1 ")
          .replaceAll(/\n\n/g, "\n")
      : held.join("\n");
    return {
      kind: "scalar",
      value: keepsEnd && held.length > 0 ? `${text}\n` : text,
      origin: this.originAt(start, end),
    };
  }

  protected plain(start: number, parent: number): SourceNode {
    const { to } = this.current();
    let end = plainEnd(this.text, start, to, false);
    const words = [this.text.slice(start, end)];
    this.watch.plain(start, end);
    this.line++;
    const [first = ""] = words;
    if (first.startsWith("*")) {
      const target = this.anchors.resolve(first.slice(1));
      if (target !== undefined) return target;
    }
    for (let next = this.lines[this.line]; next !== undefined; next = this.lines[this.line]) {
      if (next.start >= next.to || columnOf(next) <= parent || this.silent(next)) break;
      if (this.isDash(next.start) || this.keyAt(next.start) !== undefined || first === "") break;
      this.line++;
      if (!/\s/.test(first) && !this.begins(next)) continue;
      end = plainEnd(this.text, next.start, next.to, false);
      words.push(this.text.slice(next.start, end));
      this.watch.plain(next.start, end);
    }
    const value = words.length === 1 ? plainScalar(first) : words.join(" ");
    return { kind: "scalar", value, origin: this.originAt(start, end) };
  }
}
