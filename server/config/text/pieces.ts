/**
 * A long config parsed in pieces: its top-level blocks, and of a block that is a list each item. A piece that the last
 * text had as well is not parsed again, so that what a keystroke costs hardly grows with the file. Where a piece alone
 * might not mean what it means in the whole, undefined is answered, and the whole is to be parsed.
 */
import {
  mapNode,
  mapOrigins,
  moved,
  TextOrigin,
  type ListNode,
  type MapEntry,
  type Origin,
  type SourceNode,
} from "./node.ts";
import type { Range } from "../../lib/lines.ts";
import { parseSource } from "./source.ts";
import { mostAliased } from "../../lib/yamlAliases.ts";

type Base = Omit<Origin, "range">;

/** The lines of `key: …`, or of `key:` alone with the items that follow it. */
interface Block {
  readonly head: Piece;
  readonly items: readonly Piece[];
}
interface Piece {
  readonly text: string;
  readonly line: number;
}
interface Parsed {
  readonly line: number;
  readonly node: SourceNode;
  readonly aliased: number;
}

const isBlank = (line: string): boolean => /^\s*(?:#|$)/.test(line);

/** undefined: the text is not made of blocks that begin with a key at the start of a line. */
function blocksOf(text: string): Block[] | undefined {
  // A break of its own for the table of lines, and none for YAML's keys.
  if (/\r(?!\n)/.test(text)) return undefined;
  const blocks: { line: number; lines: string[] }[] = [];
  for (const [line, content] of (text.match(/[^\n]*\n|[^\n]+$/g) ?? []).entries()) {
    const last = blocks.at(-1);
    if (/^[A-Za-z_]/.test(content)) blocks.push({ line, lines: [content] });
    else if (!isBlank(content) && (last === undefined || !/^(?:[ \t]|-\s)/.test(content))) return undefined;
    else last?.lines.push(content);
  }
  return blocks.map(({ line, lines }) => divided(lines, line));
}

function divided(lines: readonly string[], line: number): Block {
  const whole = { head: { text: lines.join(""), line }, items: [] };
  if (!/^\w+:[ \t]*(?:#.*)?\r?\n$/.test(lines[0] ?? "")) return whole;
  const first = lines.findIndex((content, index) => index > 0 && !isBlank(content));
  const indent = /^( *)-\s/.exec(lines[first] ?? "")?.[1];
  if (indent === undefined) return whole;
  const depth = (content: string): number => content.search(/[^ ]/);
  const starts: number[] = [];
  for (const [index, content] of lines.entries()) {
    if (index < first || isBlank(content) || depth(content) > indent.length) continue;
    if (depth(content) < indent.length || !/^ *-\s/.test(content)) return whole;
    starts.push(index);
  }
  const piece = (from: number, to: number | undefined): Piece => ({
    text: lines.slice(from, to).join(""),
    line: line + from,
  });
  return { head: piece(0, first), items: starts.map((from, index) => piece(from, starts[index + 1])) };
}

/** What the text before had. */
interface Memory {
  /** Pieces by their text, as they stood in it. */
  readonly pieces: ReadonlyMap<string, Parsed>;
  /** Lists by their key, put together of pieces. */
  readonly lists: ReadonlyMap<string, ListNode>;
}
const memories = new Map<string, Memory>();
/** A config has some thirty; of a text with more of them a whole parse is the faster one. */
const mostBlocks = 200;
/** Files whose pieces are kept. */
const most = 16;

/** undefined: the whole has to be parsed. */
export function parsedInPieces(
  file: string,
  text: string,
  base: Base,
): { readonly root: SourceNode; readonly aliased: number } | undefined {
  const blocks = blocksOf(text);
  if (blocks === undefined || blocks.length === 0 || blocks.length > mostBlocks) return undefined;
  const id = JSON.stringify([file, base.via, base.layer]);
  const parser = new PieceParser(file, base, memories.get(id));
  const entries = new Map<string, MapEntry>();
  for (const block of blocks) {
    const entry = parser.entry(block);
    if (entry === undefined || entries.has(entry[0]) || entry[0] === "<<") return undefined;
    if (parser.aliased > mostAliased) return undefined;
    entries.set(...entry);
  }
  memories.delete(id);
  memories.set(id, { pieces: parser.met, lists: parser.lists });
  const [oldest] = memories.keys();
  if (memories.size > most && oldest !== undefined) memories.delete(oldest);
  return { root: mapNode(parser.spanning(parser.first, parser.last), entries), aliased: parser.aliased };
}

class PieceParser {
  readonly met = new Map<string, Parsed>();
  readonly lists = new Map<string, ListNode>();
  /** Values that aliases stand for. */
  aliased = 0;
  /** Of what was parsed, the first and the last. */
  first: Origin | undefined;
  last: Origin | undefined;

  constructor(
    private readonly file: string,
    private readonly base: Base,
    private readonly before: Memory | undefined,
  ) {}

  entry({ head, items }: Block): [string, MapEntry] | undefined {
    const node = this.node(head);
    const [entry, ...others] = node?.kind === "map" ? node.entries : [];
    if (entry === undefined || others.length > 0) return undefined;
    if (items.length === 0) return entry;
    const lists = items.map((item) => this.node(item));
    const found: SourceNode[] = [];
    for (const list of lists) {
      const only = list?.kind === "list" && list.items.length === 1 ? list.items[0] : undefined;
      if (only === undefined) return undefined;
      found.push(only);
    }
    const origin = this.spanning(lists[0]?.origin, lists.at(-1)?.origin);
    return [entry[0], { key: entry[1].key, value: this.list(entry[0], found, origin) }];
  }

  /** The one before, where it has the very same items. */
  private list(key: string, items: readonly SourceNode[], origin: Origin): ListNode {
    const known = this.before?.lists.get(key);
    const same = known?.items.length === items.length && known.items.every((item, at) => item === items[at]);
    const list: ListNode = same ? known : { kind: "list", items, origin };
    this.lists.set(key, list);
    return list;
  }

  /** undefined where the piece alone is not right. */
  private node({ text, line }: Piece): SourceNode | undefined {
    const known = this.met.get(text) ?? this.before?.pieces.get(text);
    const { node, aliased } =
      (known === undefined ? this.parsed(text, line) : this.placed(known, text, line)) ?? {};
    if (node === undefined) return undefined;
    this.aliased += aliased ?? 0;
    this.first ??= node.origin;
    this.last = node.origin;
    return node;
  }

  private parsed(text: string, line: number): Parsed | undefined {
    // A slice would keep the whole text alive for as long as the piece is remembered.
    const own = Buffer.from(text, "utf16le").toString("utf16le");
    const {
      root: node,
      diagnostics,
      aliased,
    } = parseSource(this.file, own, this.base, (rangeOf) => lowered(rangeOf, line));
    if (node === undefined || diagnostics.length > 0) return undefined;
    const parsed = { line, node, aliased };
    this.met.set(own, parsed);
    return parsed;
  }

  private placed({ line: before, node, aliased }: Parsed, text: string, line: number): Parsed {
    const by = line - before;
    const there = by === 0 ? node : mapOrigins(node, (origin) => movedBy(origin, by));
    const placed = { line, node: there, aliased };
    this.met.set(text, placed);
    return placed;
  }

  /** From the beginning of one to the end of another. */
  spanning(from: Origin | undefined, to: Origin | undefined): Origin {
    const none = { line: 0, character: 0 };
    return { ...this.base, range: { start: from?.range.start ?? none, end: to?.range.end ?? none } };
  }
}

type RangeOf = (start: number, end: number) => Range;

const lowered =
  (rangeOf: RangeOf, by: number): RangeOf =>
  (start, end) =>
    moved(rangeOf(start, end), by);

const movedBy = (origin: Origin, by: number): Origin =>
  origin instanceof TextOrigin ? origin.movedBy(by) : origin;
