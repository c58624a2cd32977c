/**
 * The points of series. New ones are rows of `point`; once some hundreds have gathered they are packed into one row of
 * `packed`, so that reading a long run reads a few blobs in place of hundreds of thousands of rows.
 */
import { rows, type Statements } from "../drivers/statements.ts";
import { cellsOf } from "./levels.ts";

/** Points of one series and attempt, steps ascending; NaN where there is no number, infinities as they are. */
export interface PointArrays {
  readonly steps: Float64Array;
  readonly values: Float64Array;
}

/** Points that gather before they are packed. */
export const packEvery = 512;

export interface Loose {
  readonly step: number;
  readonly value: number | null;
}
export interface Packed {
  readonly points: Buffer;
}

/** Writes, inside a transaction. */
export class PointWriter {
  /** Points that were added to a series since it was packed. A series starts anywhere, so that not all are packed at one step. */
  private readonly loose = new Map<number, number>();

  constructor(private readonly statements: Statements) {}

  /** @param value NaN: there was none. A point of the same step is replaced. */
  add(series: number, attempt: number, step: number, value: number): void {
    const kept = Number.isNaN(value) ? null : value;
    this.statements.run("INSERT OR REPLACE INTO point VALUES (?, ?, ?, ?)", series, attempt, step, kept);
    const loose = (this.loose.get(series) ?? (series * 37) % packEvery) + 1;
    this.loose.set(series, loose % packEvery);
    if (loose === packEvery) this.pack(series, attempt);
  }

  forget(): void {
    this.loose.clear();
  }

  /** Packed rows that the new points reach back into are packed again with them. */
  private pack(series: number, attempt: number): void {
    const loose = arraysOf(
      rows<Loose>(
        this.statements
          .of("SELECT step, value FROM point WHERE series = ? AND attempt = ? ORDER BY step")
          .all(series, attempt),
      ),
    );
    const first = loose.steps[0];
    if (first === undefined) return;
    const overlapped = rows<Packed>(
      this.statements
        .of("SELECT points FROM packed WHERE series = ? AND attempt = ? AND last >= ? ORDER BY first")
        .all(series, attempt, first),
    );
    const all = joined([...overlapped.map(unpack), loose]);
    this.statements.run(
      "DELETE FROM packed WHERE series = ? AND attempt = ? AND last >= ?",
      series,
      attempt,
      first,
    );
    this.statements.run(
      "INSERT INTO packed VALUES (?, ?, ?, ?, ?)",
      series,
      attempt,
      all.steps[0],
      all.steps.at(-1),
      pack(all),
    );
    this.statements.run(
      "DELETE FROM level WHERE series = ? AND attempt = ? AND last >= ?",
      series,
      attempt,
      first,
    );
    this.statements.run(
      "INSERT INTO level VALUES (?, ?, ?, ?, ?)",
      series,
      attempt,
      all.steps[0],
      all.steps.at(-1),
      cellsOf(all.steps, all.values),
    );
    this.statements.run("DELETE FROM point WHERE series = ? AND attempt = ?", series, attempt);
  }
}

/** Points of one attempt with `after` < step < `before`. */
export function readPoints(
  statements: Statements,
  series: number,
  attempt: number,
  after: number,
  before: number,
): PointArrays {
  const packed = rows<Packed>(
    statements
      .of(
        "SELECT points FROM packed WHERE series = ? AND attempt = ? AND last > ? AND first < ? ORDER BY first",
      )
      .all(series, attempt, after, before),
  );
  const loose = rows<Loose>(
    statements
      .of(
        "SELECT step, value FROM point WHERE series = ? AND attempt = ? AND step > ? AND step < ? ORDER BY step",
      )
      .all(series, attempt, after, before),
  );
  return joined([...packed.map((row) => within(unpack(row), after, before)), arraysOf(loose)]);
}

/** One after the other; where they overlap in steps, the later part's value counts. */
export function joined(parts: readonly PointArrays[]): PointArrays {
  const filled = parts.filter(({ steps }) => steps.length > 0);
  const ascending = filled.every(
    ({ steps }, index) => index === 0 || (steps[0] ?? 0) > (filled[index - 1]?.steps.at(-1) ?? 0),
  );
  return ascending ? concatenated(filled) : merged(filled);
}

function concatenated(parts: readonly PointArrays[]): PointArrays {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only;
  const count = parts.reduce((sum, { steps }) => sum + steps.length, 0);
  const steps = new Float64Array(count);
  const values = new Float64Array(count);
  let at = 0;
  for (const part of parts) {
    steps.set(part.steps, at);
    values.set(part.values, at);
    at += part.steps.length;
  }
  return { steps, values };
}

function merged(parts: readonly PointArrays[]): PointArrays {
  const points = new Map<number, number>();
  for (const { steps, values } of parts)
    steps.forEach((step, index) => points.set(step, values[index] ?? Number.NaN));
  const steps = Float64Array.from(points.keys()).sort();
  return { steps, values: steps.map((step) => points.get(step) ?? Number.NaN) };
}

export function arraysOf(found: readonly Loose[]): PointArrays {
  const steps = new Float64Array(found.length);
  const values = new Float64Array(found.length);
  found.forEach(({ step, value }, index) => {
    steps[index] = step;
    values[index] = value ?? Number.NaN;
  });
  return { steps, values };
}

export function within(points: PointArrays, after: number, before: number): PointArrays {
  const { steps, values } = points;
  let begin = 0;
  let end = steps.length;
  while (begin < end && (steps[begin] ?? 0) <= after) begin++;
  while (end > begin && (steps[end - 1] ?? 0) >= before) end--;
  return { steps: steps.subarray(begin, end), values: values.subarray(begin, end) };
}

// Every platform that set-up knows is little-endian, as are the arrays of the logs.
function pack({ steps, values }: PointArrays): Uint8Array {
  const both = new Float64Array(steps.length * 2);
  both.set(steps);
  both.set(values, steps.length);
  return new Uint8Array(both.buffer);
}

/** Copied where it has to be: a blob may begin anywhere in its buffer, and float64 must not. */
export function unpack({ points }: Packed): PointArrays {
  const aligned = points.byteOffset % 8 === 0 ? points : new Uint8Array(points);
  const both = new Float64Array(aligned.buffer, aligned.byteOffset, points.length / 8);
  const count = both.length / 2;
  return { steps: both.subarray(0, count), values: both.subarray(count) };
}
