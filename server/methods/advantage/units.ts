/** Cutting a batch's rows into the units that have one advantage each. */
import type { Batch } from "../../core/rollouts.ts";
import { hasByte } from "../../lib/slices.ts";
import type { AdvantageLevel, Units } from "../../core/slots/advantage.ts";

const rowUnits = ({ rows, offsets, mask }: Batch): Units => ({
  level: "response",
  count: rows,
  row: Int32Array.from({ length: rows }, (_, row) => row),
  offsets: Int32Array.from({ length: rows + 1 }, (_, row) => row),
  start: offsets.subarray(0, rows),
  end: offsets.subarray(1, rows + 1),
  first: Int32Array.from({ length: rows }, (_, row) => firstTrained(mask, offsets[row]!, offsets[row + 1]!)),
});

/** The first token in [start, end) that trains; `start` where none does. */
function firstTrained(mask: Uint8Array, start: number, end: number): number {
  for (let t = start; t < end; t++) if (mask[t] === 1) return t;
  return start;
}

/** 0, 1, 2, …: the same memory at every call. */
let numbers = new Int32Array(0);
function wholeNumbers(size: number): Int32Array {
  if (numbers.length < size) numbers = Int32Array.from({ length: size }, (_, i) => i);
  return numbers.subarray(0, size);
}

/** The units of a batch whose every token trains. */
class EveryToken implements Units {
  readonly level = "token";
  readonly everyToken = true;
  readonly count: number;
  readonly offsets: Int32Array;
  readonly start: Int32Array;
  readonly end: Int32Array;
  readonly first: Int32Array;
  private owner: Int32Array | undefined;

  constructor({ mask, offsets }: Batch) {
    this.count = mask.length;
    this.offsets = offsets;
    this.start = wholeNumbers(this.count + 1).subarray(0, this.count);
    this.end = wholeNumbers(this.count + 1).subarray(1);
    this.first = this.start;
  }

  get row(): Int32Array {
    if (this.owner === undefined) {
      this.owner = new Int32Array(this.count);
      for (let row = 0; row + 1 < this.offsets.length; row++)
        this.owner.fill(row, this.offsets[row], this.offsets[row + 1]);
    }
    return this.owner;
  }
}

/** Every token that trains is a unit; the others belong to none. */
function tokenUnits(batch: Batch): Units {
  const { rows, offsets, mask } = batch;
  if (!hasByte(mask, 0)) return new EveryToken(batch);
  let count = 0;
  for (let t = 0; t < mask.length; t++) if (mask[t] === 1) count++;
  const [row, start, end] = [new Int32Array(count), new Int32Array(count), new Int32Array(count)];
  const unitOffsets = new Int32Array(rows + 1);
  let unit = 0;
  for (let i = 0; i < rows; i++) {
    for (let t = offsets[i]!; t < offsets[i + 1]!; t++) {
      if (mask[t] !== 1) continue;
      row[unit] = i;
      start[unit] = t;
      end[unit] = t + 1;
      unit++;
    }
    unitOffsets[i + 1] = unit;
  }
  return { level: "token", count, row, offsets: unitOffsets, start, end, first: start };
}

/** Where the spans of a row begin that have a token that trains; positions in the token columns. */
function beginnings(batch: Batch, row: number, level: AdvantageLevel): number[] {
  const { offsets, mask, records } = batch;
  const [from, to] = [offsets[row]!, offsets[row + 1]!];
  if (level === "segment") {
    const found: number[] = [];
    for (let t = from; t < to; t++) if (mask[t] === 1 && (t === from || mask[t - 1] !== 1)) found.push(t);
    return found;
  }
  const { turns, steps } = records[row]!;
  const spans = level === "turn" ? turns?.map(({ start, end }) => [start, end] as const) : steps;
  return (spans ?? [])
    .filter(([start, end]) => mask.subarray(from + start, Math.min(to, from + end)).includes(1))
    .map(([start]) => from + start)
    .sort((a, b) => a - b);
}

/** Turns, steps or runs of trained tokens. What comes before the first belongs to it; a row without any is one unit. */
function spanUnits(batch: Batch, level: AdvantageLevel): Units {
  const [row, start, end]: [number[], number[], number[]] = [[], [], []];
  const offsets = new Int32Array(batch.rows + 1);
  for (let i = 0; i < batch.rows; i++) {
    const begins = beginnings(batch, i, level);
    begins[0] = batch.offsets[i]!;
    begins.forEach((begin, k) => {
      row.push(i);
      start.push(begin);
      end.push(begins[k + 1] ?? batch.offsets[i + 1]!);
    });
    offsets[i + 1] = row.length;
  }
  return {
    level,
    count: row.length,
    row: Int32Array.from(row),
    offsets,
    start: Int32Array.from(start),
    end: Int32Array.from(end),
    first: Int32Array.from(start, (from, unit) => firstTrained(batch.mask, from, end[unit]!)),
  };
}

/** `batch` is masked. Turns and steps are those the rollouts recorded; a segment is a run of tokens that train. */
export const unitsOf = (batch: Batch, level: AdvantageLevel): Units =>
  level === "response" ? rowUnits(batch) : level === "token" ? tokenUnits(batch) : spanUnits(batch, level);

/** Trained tokens of each unit; undefined: every unit is one. */
export function trainedTokens({ count, start, end, level }: Units, mask: Uint8Array): Int32Array | undefined {
  if (level === "token") return undefined;
  const counts = new Int32Array(count);
  for (let unit = 0; unit < count; unit++) {
    let sum = 0;
    for (let t = start[unit]!; t < end[unit]!; t++) sum += mask[t]!;
    counts[unit] = sum;
  }
  return counts;
}

/** Untrained tokens between a token unit and the next of its row. */
export const gapAfter = ({ start, end }: Units, unit: number): number => start[unit + 1]! - end[unit]!;
