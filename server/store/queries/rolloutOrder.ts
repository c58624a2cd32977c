/** The order of rollouts, and where the next page of them begins. */
import { UserError } from "../../../shared/lib/errors.ts";
import type { RolloutSort } from "../../../shared/protocol/protocol.ts";

export interface RolloutOrder {
  /** A condition for what comes after the cursor, with its values; empty: everything. */
  readonly after: string;
  readonly values: readonly number[];
  readonly by: string;
  /** Rows of the order that come before this page, where a cursor counts them. */
  readonly skipped: number;
  /** The cursor after a page. @param last of it @param shown how many it has */
  next(last: RolloutPosition, shown: number): string;
}
export interface RolloutPosition {
  readonly attempt: number;
  readonly step: number;
  readonly ordinal: number;
}

const asWritten = "r.attempt, r.step, r.ordinal";
const columns = {
  step: "r.step",
  reward: "r.reward",
  advantage: "r.advantage",
  length: "length(r.response)",
};

export function rolloutOrder(sort: RolloutSort | undefined, after: string | undefined): RolloutOrder {
  return sort === undefined ? inLogOrder(after) : sorted(sort, after);
}

function inLogOrder(after: string | undefined): RolloutOrder {
  const values = after === undefined ? [-1, -1, -1] : numbersOf(after, 3);
  return {
    after: `(${asWritten}) > (?, ?, ?)`,
    values,
    by: asWritten,
    skipped: 0,
    next: ({ attempt, step, ordinal }) => `${attempt}:${step}:${ordinal}`,
  };
}

/** What has no value comes last, whichever way the order is; equal ones as the log has them. */
function sorted(sort: RolloutSort, after: string | undefined): RolloutOrder {
  const descending = sort.startsWith("-");
  const column = Object.entries(columns).find(([name]) => sort.endsWith(name))?.[1] ?? columns.step;
  const skipped = after === undefined ? 0 : numbersOf(after, 1)[0]!;
  return {
    after: "",
    values: [],
    by: `${column} ${descending ? "DESC" : "ASC"} NULLS LAST, ${asWritten}`,
    skipped,
    next: (_, shown) => String(skipped + shown),
  };
}

function numbersOf(cursor: string, count: number): number[] {
  const numbers = cursor.split(":").map(Number);
  if (numbers.length === count && numbers.every(Number.isInteger)) return numbers;
  throw new UserError(`"${cursor}" is not a cursor to continue from.`, {
    code: "refused",
    action: "Pass the `next` of the previous answer.",
  });
}
