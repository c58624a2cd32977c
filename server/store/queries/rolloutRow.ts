/** A recorded rollout as a rollouts file has it: `origin` as words, null where a value does not exist. */
import type { Criterion, TermDetails } from "../../../shared/rollouts/criteria.ts";
import type { RolloutRecordLog } from "../../../shared/log/records.ts";
import { origins } from "../../../shared/rollouts/fields.ts";
import { toWire, type MaybeNumber, type RolloutRow } from "../../../shared/rollouts/rollouts.ts";

type CriteriaById = (id: string) => readonly Criterion[] | undefined;

/**
 * @param tokens with the arrays that have one number per token
 * @param criteriaOf what the run's rollouts are scored by; without it `details` are in the record, or absent
 */
export function rowOf(
  { row: { judged, ...row }, columns }: RolloutRecordLog,
  tokens: boolean,
  criteriaOf?: CriteriaById,
): RolloutRow {
  const whole =
    judged === undefined || criteriaOf === undefined
      ? row
      : { ...row, details: { ...row.details, ...detailsOf(judged, criteriaOf) } };
  return tokens ? { ...whole, ...arraysOf(columns) } : whole;
}

/** Of criteria that the log has lost nothing can be said. */
function detailsOf(
  judged: NonNullable<RolloutRecordLog["row"]["judged"]>,
  criteriaOf: CriteriaById,
): Record<string, TermDetails> {
  return Object.fromEntries(
    Object.entries(judged).flatMap(([term, { of, met }]) => {
      const criteria = criteriaOf(of);
      return criteria === undefined
        ? []
        : [[term, { criteria: criteria.map((one, k) => ({ ...one, met: met[k] ?? null })) }]];
    }),
  );
}

function arraysOf(columns: RolloutRecordLog["columns"]): Record<string, readonly (number | string | null)[]> {
  const arrays: Record<string, readonly (number | string | null)[]> = {};
  for (const [name, column] of Object.entries(columns)) {
    arrays[name] =
      name === "origin"
        ? Array.from(column, (value) => origins[value] ?? "observed")
        : Array.from(column, numberOrNull);
  }
  return arrays;
}

/** NaN in a column means that the value does not exist. */
const numberOrNull = (value: number): MaybeNumber => (Number.isNaN(value) ? null : toWire(value));
