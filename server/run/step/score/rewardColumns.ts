/** Reward columns of some rows, and of several rounds. */
import type { Scores } from "../../../algorithm/rewards/rewards.ts";
import { areAll, selectValues } from "../../../core/rows/batch.ts";
import type { JudgedCriterion } from "../../../../shared/rollouts/criteria.ts";
import type { RewardColumn } from "../../../core/reward.ts";
import type { Components } from "../../../core/slots/reward.ts";

interface Piece {
  readonly column: RewardColumn;
  readonly row: number;
}

/** A column whose rows are `parts`: pieces of other columns of the same term. */
function build(name: string, pieces: readonly Piece[]): RewardColumn {
  const offsets = new Int32Array(pieces.length + 1);
  pieces.forEach(
    ({ column, row }, i) => (offsets[i + 1] = offsets[i]! + column.offsets[row + 1]! - column.offsets[row]!),
  );
  const values = new Float64Array(offsets[pieces.length]!);
  pieces.forEach(({ column, row }, i) =>
    values.set(column.values.subarray(column.offsets[row], column.offsets[row + 1]), offsets[i]),
  );
  const byPiece = <Found>(of: (piece: Piece) => Found | undefined): Map<number, Found> =>
    new Map(
      pieces.flatMap((piece, i): [number, Found][] => {
        const own = of(piece);
        return own === undefined ? [] : [[i, own]];
      }),
    );
  const criteria = byPiece<readonly JudgedCriterion[]>(({ column, row }) => column.criteria?.get(row));
  const components = byPiece<Components>(({ column, row }) => column.components?.get(row));
  return {
    name,
    offsets,
    values,
    // The term may have scored only whole responses in one round, and tokens in another.
    level: pieces.find(({ column }) => column.level !== "response")?.column.level ?? "response",
    status: Uint8Array.from(pieces, ({ column, row }) => column.status[row]!),
    errors: byPiece(({ column, row }) => column.errors.get(row)),
    ...(criteria.size > 0 && { criteria }),
    ...(components.size > 0 && { components }),
  };
}

/** The column itself, for all rows in their order. */
export const selectColumn = (column: RewardColumn, rows: readonly number[]): RewardColumn =>
  areAll(rows, { rows: column.status.length })
    ? column
    : build(
        column.name,
        rows.map((row) => ({ column, row })),
      );

/** Combined rewards and successes of chosen rows; they themselves, for all in their order. */
export function selectScored(
  scored: Pick<Scores, "combined" | "success">,
  rows: readonly number[],
): Pick<Scores, "combined" | "success"> {
  const { combined, success } = scored;
  if (areAll(rows, { rows: success.length })) return scored;
  return {
    combined: {
      sources: combined.sources.map((source) => selectColumn(source, rows)),
      ...(combined.weights && { weights: combined.weights }),
      total: selectValues(combined.total, rows),
      errored: Uint8Array.from(rows, (row) => combined.errored[row]!),
    },
    success: Uint8Array.from(rows, (row) => success[row]!),
  };
}

/** The columns of several rounds, term by term. */
export function joinColumns(rounds: readonly (readonly RewardColumn[])[]): RewardColumn[] {
  const [first = []] = rounds;
  return first.map(({ name }, term) =>
    build(
      name,
      rounds.flatMap((round) =>
        [...round[term]!.status.keys()].map((row) => ({ column: round[term]!, row })),
      ),
    ),
  );
}
