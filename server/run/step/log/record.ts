/** A step's events, groups and rollouts as records of the log. */
import { columnOfAdvantages } from "../../../algorithm/advantages/advantageColumns.ts";
import { tokensOfRow } from "../../../algorithm/advantages/tokenColumn.ts";
import type { CurriculumRecord } from "../../../algorithm/curriculum/curriculumRecord.ts";
import { isEarlierPart, type Group } from "../../../core/rollouts.ts";
import { rowsOfGroups } from "../../../core/rows/batch.ts";
import type { Task } from "../../../core/task.ts";
import type { RolloutRecordLog } from "../../../../shared/log/records.ts";
import type { RolloutRow } from "../../../../shared/rollouts/rollouts.ts";
import type { Stage, Selected, StepContext, StepAdvantages, Trained } from "../context.ts";
import { columnsOf, present, replayedRow, rowOf, singles } from "./rolloutRecord.ts";
import { recordEvents } from "./stepEvents.ts";

/** By row of the batch: which of its tokens the rules of the updates touched. */
function touchedRows(
  { train }: StepAdvantages,
  admitted: readonly number[],
): Map<number, RolloutRow["touched"]> {
  return new Map(admitted.map((row, i) => [row, train.touched?.of(i)]));
}

/** By row of the batch: what the reference, and the policy as the step found it, said of the rows that trained. */
function comparedColumns(
  { train }: StepAdvantages,
  admitted: readonly number[],
): Map<number, RolloutRecordLog["columns"]> {
  const { "logp:reference": reference, "logp:proximal": proximal } = train.old;
  return new Map(
    admitted.map((row, i) => {
      const [from, to] = [train.batch.offsets[i]!, train.batch.offsets[i + 1]!];
      const own = present([
        ["logp_ref", singles(reference, from, to)],
        ["logp_proximal", singles(proximal, from, to)],
      ]);
      return [row, own];
    }),
  );
}

/** Of an arm of the stage's own; those of a stage that fades out have their own. */
function familyOf({ curriculum }: Stage, arm: string, task: Task): string | undefined {
  const family = curriculum.familyOf(task);
  return family === arm || curriculum.arms.find(arm) < 0 ? undefined : family;
}

function recordGroups(
  { session, stage, step }: StepContext,
  { batch, verdicts }: Selected,
  groups: readonly Group[],
  signals: Float64Array,
): void {
  rowsOfGroups(batch).forEach((rows, number) => {
    const verdict = verdicts[number]!;
    const { task, arm, group } = batch.records[rows[0]!]!;
    const family = familyOf(stage, arm, task);
    session.recorder.append({
      kind: "group",
      step,
      group,
      task: task.id,
      arm,
      ...(family === undefined ? {} : { family }),
      admitted: verdict.admitted,
      reason: verdict.admitted ? null : verdict.reason,
      successes: groups[number]!.successes,
      size: rows.filter((row) => !isEarlierPart(batch.records[row]!)).length,
      signal: Number.isFinite(signals[number]!) ? signals[number]! : null,
    });
  });
}

/** What a replay of the run's history needs in addition to the groups: it is kept with the step's first rollout. */
const curriculumOf = (
  { session, stage, clock }: StepContext,
  { batch }: Selected,
  groups: readonly Group[],
): CurriculumRecord => ({
  stage: stage.config.name,
  clock: { step: clock.step, stage_step: clock.stageStep },
  seed: session.config.seed,
  told: stage.curriculum.happened(),
  successes: Object.fromEntries(
    rowsOfGroups(batch).map((rows, i) => [batch.records[rows[0]!]!.group, groups[i]!.successes]),
  ),
});

export function recordStep(
  context: StepContext,
  selected: Selected,
  advantages: StepAdvantages,
  groups: readonly Group[],
  signals: Float64Array,
): void {
  recordEvents(context, selected);
  recordGroups(context, selected, groups, signals);
  for (const record of rolloutsOf(context, selected, advantages, groups))
    context.session.recorder.append(record);
}

/** The step's own rollouts as the log has them. */
export function* rolloutsOf(
  context: StepContext,
  selected: Selected,
  advantages: StepAdvantages,
  groups: readonly Group[],
): Generator<RolloutRecordLog> {
  const compared = comparedColumns(advantages, selected.admitted);
  const touched = touchedRows(advantages, selected.admitted);
  const every = columnOfAdvantages(advantages.all);
  const curriculum = curriculumOf(context, selected, groups);
  for (let row = 0; row < selected.batch.rows; row++) {
    const rules = touched.get(row);
    yield {
      kind: "rollout",
      step: context.step,
      index: row,
      row: {
        ...rowOf(context.step, selected, advantages, row),
        ...(rules === undefined ? {} : { touched: rules }),
        ...(row === 0 ? { curriculum } : {}),
      },
      columns: {
        ...columnsOf(selected.batch, row),
        advantages: tokensOfRow(every, selected.batch, row),
        ...compared.get(row),
      },
    };
  }
}

/** Rollouts that were replayed in the step, after its own, with the advantages they trained with. */
export function recordReplayed(
  { session, step }: StepContext,
  { batch }: Selected,
  { replayed }: Trained,
): void {
  let index = batch.rows;
  for (const { training, rows } of replayed)
    rows.forEach((kept, row) => {
      session.recorder.append({
        kind: "rollout",
        step,
        index: index++,
        row: replayedRow(step, training, kept.terms, row),
        columns: {
          ...columnsOf(training.batch, row),
          advantages: tokensOfRow(columnOfAdvantages(training.advantages), training.batch, row),
        },
      });
    });
}
