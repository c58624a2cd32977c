/** Which rollouts of a step show best what a verdict says. Pure. */
import { fromWire, type RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import type { VerdictRollout, VerdictState } from "../../../shared/run/verdict.ts";

const most = 3;

interface Wanted {
  readonly state: VerdictState;
  readonly term: string | null;
}
type Row = Pick<
  RolloutRow,
  "step" | "group" | "index" | "reward" | "rewards" | "errors" | "advantage" | "response"
>;
interface Choice {
  readonly row: Row;
  readonly why: string;
}

const number = (value: RolloutRow["reward"] | undefined): number =>
  value === undefined || value === null ? Number.NaN : fromWire(value);

/** Of different groups as far as there are, at most three. */
export function exemplarsOf({ state, term }: Wanted, rows: readonly Row[]): readonly VerdictRollout[] {
  const chosen: Choice[] = [];
  const take = (row: Row | undefined, why: string): void => {
    if (row === undefined || chosen.some((one) => one.row === row)) return;
    chosen.push({ row, why });
  };
  if (state === "failing")
    for (const row of spread(
      rows.filter(({ errors }) => errors !== undefined && Object.keys(errors).length > 0),
    ))
      take(row, "its reward failed");
  else if (state === "starved") for (const row of spread(rows)) take(row, "its group has no advantage");
  else {
    take(
      highest(rows, ({ advantage }) => pushed(number(advantage))),
      "reinforced most",
    );
    if (term !== null)
      take(
        highest(rows, ({ rewards }) => numberOf(rewards?.[term])),
        `highest \`${term}\``,
      );
    take(
      highest(rows, ({ advantage }) => pushed(-number(advantage))),
      "pushed down most",
    );
  }
  return chosen.slice(0, most).map(({ row: { step, group, index }, why }) => ({ step, group, index, why }));
}

const numberOf = (value: NonNullable<RolloutRow["rewards"]>[string] | undefined): number =>
  typeof value === "object" ? Number.NaN : number(value);

/** Pushed by less, a rollout has not been pushed: a mean of equal rewards is off by a rounding error. */
const pushed = (advantage: number): number => (advantage > 1e-9 ? advantage : Number.NaN);

function highest(rows: readonly Row[], of: (row: Row) => number): Row | undefined {
  let best: Row | undefined;
  for (const row of rows)
    if (of(row) > (best === undefined ? Number.NEGATIVE_INFINITY : of(best))) best = row;
  return best;
}

/** The first rollout of each of the first groups. */
function spread(rows: readonly Row[]): readonly Row[] {
  const groups = new Map<string, Row>();
  for (const row of rows) if (!groups.has(row.group)) groups.set(row.group, row);
  return [...groups.values()].slice(0, most);
}
