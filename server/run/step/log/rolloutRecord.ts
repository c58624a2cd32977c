/** A rollout as a record of the log. */
import { componentsOf } from "../../../algorithm/rewards/components.ts";
import { detailsOf } from "../../../algorithm/rewards/criteria.ts";
import { rowValue } from "../../../algorithm/rewards/rewards.ts";
import { origin, type Batch, type Played, type RolloutRecord } from "../../../core/rollouts.ts";
import { status, type RewardColumn } from "../../../core/reward.ts";
import type { RolloutRecordLog } from "../../../../shared/log/records.ts";
import { columnsWith } from "../../../../shared/rollouts/columns.ts";
import {
  toWire,
  type MaybeNumber,
  type RolloutRow,
  type WireReward,
} from "../../../../shared/rollouts/rollouts.ts";
import type { Answered } from "../../evaluation/evaluate.ts";
import type { Selected, StepAdvantages } from "../context.ts";
import type { Training } from "../update/training.ts";

const logged = { per: "token", batch: "column", logged: true } as const;
const loggedFloats = columnsWith({ ...logged, dtype: "float64" });
const loggedIntegers = columnsWith({ ...logged, dtype: "int32" });
const loggedOfRow = columnsWith({ per: "row", logged: true });

const orNull = (value: number): MaybeNumber => (Number.isNaN(value) ? null : toWire(value));

/** A term's value on a row as the rollout format has it; undefined where the term failed. */
function wireReward(term: RewardColumn, row: number): WireReward | undefined {
  if (term.status[row] === status.error) return undefined;
  if (term.status[row] === status.none) return null;
  if (term.level === "response") return toWire(rowValue(term, row));
  const values = [...term.values.subarray(term.offsets[row], term.offsets[row + 1])];
  return { level: term.level, values: values.map(orNull) };
}

/** Without what is undefined. */
export const present = <Value>(
  entries: readonly (readonly [string, Value | undefined])[],
): Record<string, Value> =>
  Object.fromEntries(entries.filter((entry): entry is readonly [string, Value] => entry[1] !== undefined));

/** How many of a row's prefilled and generated tokens there are, and how many of each the masks leave. */
function trainsOf(
  { offsets, origin: origins, mask }: Batch,
  row: number,
): NonNullable<NonNullable<RolloutRow["help"]>["trains"]> {
  const tally = (kind: number): { tokens: number; trained: number } => {
    let [tokens, trained] = [0, 0];
    for (let i = offsets[row]!; i < offsets[row + 1]!; i++) {
      if (origins[i] !== kind) continue;
      tokens += 1;
      trained += mask[i]!;
    }
    return { tokens, trained };
  };
  return { given: tally(origin.given), written: tally(origin.written) };
}

/** Without the time that it took. */
const loggedPlay = ({ seconds: _, components, ...played }: Played): NonNullable<RolloutRow["played"]> => ({
  ...played,
  components: Object.fromEntries(Object.entries(components).map(([name, value]) => [name, toWire(value)])),
});

/** How a rollout is divided, and what it belongs to. */
function divisions(batch: Batch, row: number): Partial<RolloutRow> {
  const { records, rowColumns } = batch;
  const { turns, tries, failed, played, part, steps, spans, parent, pair, help, mixture, shown } =
    records[row]!;
  return {
    ...(turns && { turns: turns.map(({ state: _, ...turn }) => turn) }),
    ...(failed !== undefined && { failed }),
    ...(played && { played: loggedPlay(played) }),
    ...(part && { part }),
    ...(tries === undefined ? {} : { tries }),
    ...(steps && { steps }),
    ...(spans && { spans }),
    ...(parent && { parent }),
    ...(pair === undefined ? {} : { pair }),
    ...(help && { help: { ...help, trains: trainsOf(batch, row) } }),
    ...(mixture && { mixture }),
    ...(shown && { shown }),
    ...present(
      loggedOfRow.map((name) => [name, rowColumns?.[name] && orNull(rowColumns[name][row]!)] as const),
    ),
  };
}

/** What a rollout is, whatever it earned. */
function identityOf(step: number, record: RolloutRecord) {
  const { task, arm, group, index, prompt, response, finish, source, use } = record;
  const { answer, data } = task;
  // Without it, rewards that compare could not score the rollout again.
  const own = answer === undefined || data["answer"] === answer ? {} : { answer };
  const asked = { env: task.env, arm, id: task.id, data, ...own };
  return { step, group, index, task: asked, prompt, response, finish, source, use };
}

/** A rollout with its rewards, whether or not it was admitted. */
function scoredRow(
  step: number,
  { batch, scored, gold = [] }: Pick<Selected, "batch" | "scored"> & Partial<Pick<Answered, "gold">>,
  row: number,
): RolloutRecordLog["row"] {
  const trained = scored.rewards.terms;
  const terms = [...trained, ...gold];
  const errors = present(terms.map((term) => [term.name, term.errors.get(row)]));
  return {
    ...identityOf(step, batch.records[row]!),
    ...divisions(batch, row),
    rewards: present(terms.map((term) => [term.name, wireReward(term, row)])),
    weights: Object.fromEntries(trained.map((term, i) => [term.name, toWire(scored.rewards.weights[i]!)])),
    ...(Object.keys(errors).length === 0 ? {} : { errors }),
    ...detailsOf(terms, row),
    ...componentsOf(terms, row),
    reward: orNull(scored.combined.total[row]!),
  };
}

/** A rollout of the step, with what it trained with. */
export const rowOf = (
  step: number,
  selected: Selected,
  advantages: StepAdvantages,
  row: number,
): RolloutRecordLog["row"] => ({
  ...scoredRow(step, selected, row),
  advantage: orNull(advantages.all.rows[row]!),
  admitted: selected.verdicts[selected.batch.group[row]!]!.admitted && !selected.dropped.has(row),
});

/** An answer to a held-out task: nothing trains on it. Of a task's answers the greedy one is number 0. */
export const evaluationRecord = (
  step: number,
  answered: Answered,
  row: number,
): Pick<RolloutRecordLog, "row" | "columns"> => {
  const scored = scoredRow(step, answered, row);
  return {
    row: { ...scored, index: answered.greedy ? 0 : scored.index + 1 },
    columns: columnsOf(answered.batch, row),
  };
};

/** The engine computes in float32: nothing is lost by keeping its columns so. */
export const singles = (
  column: Float64Array | undefined,
  from: number,
  to: number,
): Float32Array | undefined =>
  column === undefined ? undefined : Float32Array.from(column.subarray(from, to));

/** A row's tokens and what belongs to each. */
export function columnsOf(batch: Batch, row: number): RolloutRecordLog["columns"] {
  const [from, to] = [batch.offsets[row]!, batch.offsets[row + 1]!];
  const { columns, context, trainContext } = batch;
  return {
    tokens: batch.tokens.slice(from, to),
    origin: batch.origin.slice(from, to),
    mask: batch.mask.slice(from, to),
    ...present(loggedIntegers.map((name) => [name, columns[name]?.slice(from, to)])),
    ...present(loggedFloats.map((name) => [name, singles(columns[name], from, to)])),
    context: context.values.slice(context.offsets[row], context.offsets[row + 1]),
    ...(trainContext === undefined
      ? {}
      : {
          train_context: trainContext.values.slice(trainContext.offsets[row], trainContext.offsets[row + 1]),
        }),
  };
}

/** A rollout that the step took from the buffer. @param terms its own, each of one row */
export const replayedRow = (
  step: number,
  { batch, scored, advantages }: Training,
  terms: readonly RewardColumn[],
  row: number,
): RolloutRecordLog["row"] => ({
  ...identityOf(step, batch.records[row]!),
  source: "replay",
  ...divisions(batch, row),
  rewards: present(terms.map((term) => [term.name, wireReward(term, 0)])),
  reward: orNull(scored.combined.total[row]!),
  advantage: orNull(advantages.rows[row]!),
  admitted: true,
});
