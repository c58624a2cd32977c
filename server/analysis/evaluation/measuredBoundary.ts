import { boundary, crossingOf, passTable, type PassTable } from "../../../shared/run/boundary.ts";
import type { MeasuredBoundary } from "../../../shared/run/boundaryReport.ts";
import type { TaskResults } from "../../../shared/run/taskResults.ts";
import type { Random } from "../../lib/random.ts";

const draws = 400;

/** @returns undefined where there is no table of both */
export function measuredBoundary(
  own: TaskResults,
  other: TaskResults,
  random: Random,
): MeasuredBoundary | undefined {
  const table = passTable(own, other);
  return table && { ...boundary(table), crossing_share: crossingShare(table, random) };
}

/** In which share of draws of the tasks, with replacement, the curves of both models cross. */
function crossingShare(table: PassTable, random: Random): number {
  const { length } = table.tasks;
  let crossed = 0;
  for (let draw = 0; draw < draws; draw++) {
    const tasks = Array.from({ length }, () => random.integer(length));
    if (crossingOf(table, tasks) !== null) crossed++;
  }
  return crossed / draws;
}
