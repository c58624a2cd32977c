/** The points of one series and attempt for wide buckets: whole packed rows as their cells, what else there is as points. */
import { row, rows, type Statements } from "../drivers/statements.ts";
import { arraysOf, unpack, within, type Loose, type Packed, type PointArrays } from "../ingest/points.ts";

/** First and last step; of no points +∞ and −∞. */
interface Extent {
  readonly first: number;
  readonly last: number;
}
export type LevelPart = Extent &
  (
    | { readonly kind: "points"; readonly points: PointArrays }
    /** `points` reads those that the cells stand for. */
    | { readonly kind: "cells"; readonly cells: Buffer; readonly points: () => PointArrays }
  );

const asPart = (points: PointArrays): LevelPart => ({
  kind: "points",
  points,
  first: points.steps[0] ?? Number.POSITIVE_INFINITY,
  last: points.steps.at(-1) ?? Number.NEGATIVE_INFINITY,
});

interface LevelRow extends Extent {
  readonly cells: Buffer;
}

/** Rows read at once: other questions come in between. */
const page = 256;

/**
 * In the order of steps. @returns false where points reach back into packed ones, or some were packed by an earlier version: the
 * parts then say nothing
 * @param after a step: points lie after it, and before `before`
 */
export function* levelParts(
  statements: Statements,
  series: number,
  attempt: number,
  after: number,
  before: number,
): Generator<LevelPart, boolean> {
  const pointsOf = (first: number): PointArrays => {
    const found = row<Packed>(
      statements
        .of("SELECT points FROM packed WHERE series = ? AND attempt = ? AND first = ?")
        .get(series, attempt, first),
    );
    return found === undefined ? arraysOf([]) : within(unpack(found), after, before);
  };
  const counted = row<{ whole: number }>(
    statements
      .of(
        "SELECT (SELECT count(*) FROM packed WHERE series = ? AND attempt = ?) = (SELECT count(*) FROM level WHERE series = ? AND attempt = ?) AS whole",
      )
      .get(series, attempt, series, attempt),
  );
  if (counted?.whole !== 1) return false;
  let [done, end] = [Number.MIN_SAFE_INTEGER, Number.MIN_SAFE_INTEGER];
  for (;;) {
    const found = rows<LevelRow>(
      statements
        .of(
          "SELECT first, last, cells FROM level WHERE series = ? AND attempt = ? AND first > ? AND first < ? AND last > ? ORDER BY first LIMIT ?",
        )
        .all(series, attempt, done, before, after, page),
    );
    for (const { first, last, cells } of found) {
      if (first > after && last < before)
        yield { kind: "cells", cells, first, last, points: () => pointsOf(first) };
      else yield asPart(pointsOf(first));
      [done, end] = [first, last];
    }
    if (found.length < page) break;
  }
  const loose = arraysOf(
    rows<Loose>(
      statements
        .of(
          "SELECT step, value FROM point WHERE series = ? AND attempt = ? AND step > ? AND step < ? ORDER BY step",
        )
        .all(series, attempt, after, before),
    ),
  );
  if (loose.steps.length > 0 && loose.steps[0]! <= end) return false;
  yield asPart(loose);
  return true;
}
