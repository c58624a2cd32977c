import { crossingOf, passTable } from "../../../shared/run/boundary.ts";
import type { TaskResults } from "../../../shared/run/taskResults.ts";
import type { Random } from "../../lib/random.ts";

const draws = 400;

/** In which share of draws of the tasks, with replacement, the curves of both models cross; undefined: there are none. */
export function crossingShare(own: TaskResults, other: TaskResults, random: Random): number | undefined {
  const table = passTable(own, other);
  if (table === undefined) return undefined;
  const { length } = table.pairs;
  let crossed = 0;
  for (let draw = 0; draw < draws; draw++) {
    const tasks = Array.from({ length }, () => random.integer(length));
    if (crossingOf(table, tasks) !== null) crossed++;
  }
  return crossed / draws;
}
