/** A run's groups, counted by step, arm and what became of them. */
import type { GroupTally } from "../../analysis/evidence/record.ts";
import { rows, type Statements } from "../drivers/statements.ts";
import { effective } from "./runQueries.ts";

/** Of steps with `after` < step ≤ `to`, in their order. */
export const groupTallies = (
  statements: Statements,
  run: string,
  after: number,
  to: number,
): readonly GroupTally[] =>
  rows<GroupTally & { admitted: boolean | number }>(
    statements
      .of(
        `SELECT r.step, r.arm, r.admitted, r.reason, count(*) AS "groups", sum(r.successes) AS successes, sum(r.size) AS rollouts FROM grp r ${effective} WHERE r.run = ? AND r.step > ? AND r.step <= ? GROUP BY r.step, r.arm, r.admitted, r.reason ORDER BY r.step`,
      )
      .all(run, after, to),
  ).map((tally) => ({ ...tally, admitted: Boolean(tally.admitted) }));
