/** Tokens of a rollout and their places in its document. Pure. */
import type { RolloutTokens } from "../../../../shared/protocol/protocol.ts";
import { unpackedFloat32, unpackedInt32, unpackedUint8 } from "../../../../shared/rollouts/packed.ts";
import type { TokenChannel } from "../../../../shared/rollouts/tokenChannels.ts";
import type { TextLine } from "../writer.ts";
import { scaleOf, type Scale } from "./buckets.ts";

export interface HeatChannel {
  readonly channel: TokenChannel;
  readonly values: Float32Array;
  readonly scale: Scale;
  readonly count: number;
}
/** Characters [from, to) of a line. */
export interface Stretch {
  readonly line: number;
  readonly from: number;
  readonly to: number;
}

/** The number of entries for which `before` holds: they come first. */
function countWhere(length: number, before: (index: number) => boolean): number {
  let [low, high] = [0, length];
  while (low < high) {
    const half = (low + high) >>> 1;
    if (before(half)) low = half + 1;
    else high = half;
  }
  return low;
}

export class TokenMap {
  readonly total: number;
  readonly reason: string | null;
  readonly ids: Int32Array;
  readonly origin: Uint8Array;
  readonly mask: Uint8Array;
  readonly channels: readonly HeatChannel[];
  readonly #starts: Int32Array;
  readonly #ends: Int32Array;

  /** @param lines of the response in the document, in order */
  constructor(
    tokens: RolloutTokens,
    private readonly lines: readonly TextLine[],
  ) {
    this.total = tokens.total;
    this.reason = tokens.reason;
    this.ids = unpackedInt32(tokens.ids);
    this.origin = unpackedUint8(tokens.origin);
    this.mask = unpackedUint8(tokens.mask);
    this.#starts = unpackedInt32(tokens.starts);
    this.#ends = unpackedInt32(tokens.ends);
    this.channels = tokens.channels.map(({ channel, values, low, high, count }) => ({
      channel,
      values: unpackedFloat32(values),
      scale: scaleOf(channel, low, high),
      count,
    }));
  }

  /** Whether tokens have places. */
  get placed(): boolean {
    return this.#starts.length > 0;
  }

  channel(name: TokenChannel): HeatChannel | undefined {
    return this.channels.find(({ channel }) => channel === name);
  }

  /** Tokens [from, to) that are on the lines [first, last] of the document, and perhaps some more. */
  on(first: number, last: number): readonly [from: number, to: number] {
    const begin = this.lines[countWhere(this.lines.length, (i) => this.lines[i]!.line < first)];
    const end = this.lines[countWhere(this.lines.length, (i) => this.lines[i]!.line <= last)];
    const count = this.#starts.length;
    if (begin === undefined) return [count, count];
    const from = countWhere(count, (t) => this.#ends[t]! <= begin.offset);
    const to = end === undefined ? count : countWhere(count, (t) => this.#starts[t]! < end.offset);
    return [from, Math.max(from, to)];
  }

  /** Where a token's text is shown: a stretch a line; none where it has no text. */
  stretches(token: number): Stretch[] {
    const [start, end] = [this.#starts[token] ?? 0, this.#ends[token] ?? 0];
    const found: Stretch[] = [];
    let at = Math.max(0, countWhere(this.lines.length, (i) => this.lines[i]!.offset <= start) - 1);
    for (let one = this.lines[at]; one !== undefined && one.offset < end; one = this.lines[++at]) {
      // One more than its length: the mark of the line's end.
      const [from, to] = [Math.max(start - one.offset, 0), Math.min(end - one.offset, one.length + 1)];
      if (from < to) found.push({ line: one.line, from: one.margin + from, to: one.margin + to });
    }
    return found;
  }

  /** The tokens of a character: several where they share it, and those after it that have no text. */
  at(line: number, character: number): readonly number[] {
    const one = this.lines[countWhere(this.lines.length, (i) => this.lines[i]!.line <= line) - 1];
    if (one?.line !== line || character < one.margin || character > one.margin + one.length) return [];
    const offset = one.offset + character - one.margin;
    const first = countWhere(this.#starts.length, (t) => this.#ends[t]! <= offset);
    if (first >= this.#starts.length || this.#starts[first]! > offset) return [];
    const found = [first];
    const end = this.#ends[first]!;
    for (let t = first + 1; t < this.#starts.length; t++) {
      const isShared = this.#starts[t] === this.#starts[first] && this.#ends[t] === end;
      if (!isShared && !(this.#starts[t] === end && this.#ends[t] === end)) break;
      found.push(t);
    }
    return found;
  }

  /** The first token that begins at a character of the document or after it. */
  from(line: number, character: number): number {
    const at = countWhere(this.lines.length, (i) => this.lines[i]!.line < line);
    const one = this.lines[at];
    if (one === undefined) return this.#starts.length;
    const offset = one.line === line ? one.offset + Math.max(0, character - one.margin) : one.offset;
    return countWhere(this.#starts.length, (t) => this.#starts[t]! < offset);
  }

  /** UTF-16 units of the response. */
  text(token: number, response: string): string {
    return response.slice(this.#starts[token], this.#ends[token]);
  }
}
