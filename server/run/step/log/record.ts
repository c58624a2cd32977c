/** A step's groups, rollouts and warnings as records of the log. */
import { columnOfAdvantages } from "../../../algorithm/advantages/advantageColumns.ts";
import { rowValue } from "../../../algorithm/rewards/rewards.ts";
import { starvation } from "../../../algorithm/curriculum/curriculumFaults.ts";
import { tokensOfRow } from "../../../algorithm/advantages/tokenColumn.ts";
import { componentsOf } from "../../../algorithm/rewards/components.ts";
import { detailsOf } from "../../../algorithm/rewards/criteria.ts";
import type { CurriculumRecord } from "../../../algorithm/curriculum/curriculumRecord.ts";
import { rowsOfGroups } from "../../../core/rows/batch.ts";
import { scoringErrors } from "../../../algorithm/rewards/scoring.ts";
import { plural } from "../../../../shared/lib/format.ts";
import type { RolloutRecordLog } from "../../../../shared/log/records.ts";
import {
  toWire,
  type MaybeNumber,
  type RolloutRow,
  type WireReward,
} from "../../../../shared/rollouts/rollouts.ts";
import { columnsWith } from "../../../../shared/rollouts/columns.ts";
import type { Task } from "../../../core/task.ts";
import {
  isEarlierPart,
  origin,
  type Batch,
  type Group,
  type Played,
  type RolloutRecord,
} from "../../../core/rollouts.ts";
import { status, type RewardColumn } from "../../../core/reward.ts";
import { byHarness } from "../../../core/config/shapeFacts.ts";
import type { Answered } from "../../evaluation/evaluate.ts";
import type { StepFailure } from "../../loop/failedSteps.ts";
import type { Stage, Selected, StepContext, StepAdvantages, Trained } from "../context.ts";

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

const present = <Value>(entries: readonly (readonly [string, Value | undefined])[]): Record<string, Value> =>
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

const rowOf = (
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
const singles = (column: Float64Array | undefined, from: number, to: number): Float32Array | undefined =>
  column === undefined ? undefined : Float32Array.from(column.subarray(from, to));

function columnsOf(batch: Batch, row: number): RolloutRecordLog["columns"] {
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

/** Episodes that could not be played to their ends: each message once. @returns the first */
function recordFailures(
  { session, stage, step }: StepContext,
  { rows, records }: Batch,
): StepFailure | undefined {
  const harness = byHarness(stage.config.body.rollout);
  const counts = new Map<string, number>();
  for (const { failed } of records)
    if (failed !== undefined) counts.set(failed, (counts.get(failed) ?? 0) + 1);
  for (const [message, count] of counts) {
    const all = count === rows;
    session.recorder.event(
      all ? "error" : "warning",
      "episode-failed",
      `${all ? "Every episode of the step" : plural(count, "episode")} failed: ${message}.`,
      {
        step,
        action: all
          ? `This step trains nothing. Stop the run, fix ${harness ? "the program that `rollout.command` runs" : "the environment or the tool"}, then resume.`
          : "What failed has no reward and does not train; the rest of its group does.",
        data: { count },
      },
    );
  }
  const [message] = counts.keys();
  return message === undefined ? undefined : { what: harness ? "harness" : "environment", message };
}

/** Each message once a step, with how often it came. */
function recordErrors(context: StepContext, { scored, batch }: Selected): void {
  const { session, step } = context;
  const counts = new Map<string, number>();
  for (const { term, row, message } of scoringErrors(scored.rewards.terms)) {
    if (batch.records[row]!.failed !== undefined) continue;
    const text = `Reward term ${term} failed: ${message}`;
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  const broken = recordFailures(context, batch);
  const allFailed =
    batch.rows > 0 &&
    scored.combined.errored.every((errored, row) => errored === 1 || isEarlierPart(batch.records[row]!));
  const [message] = counts.keys();
  const failure = message === undefined ? broken : { what: "reward" as const, message };
  session.failed.observe(step, allFailed ? failure : undefined);
  for (const [text, count] of counts) {
    const all = count === batch.rows;
    const which = all ? " (every rollout of the step)" : count === 1 ? "" : ` (${count} rollouts)`;
    session.recorder.event(all ? "error" : "warning", "reward-error", `${text}${which}`, {
      step,
      action: all
        ? "If the term has a weight, this step trains nothing. Stop the run, fix the reward, then start again or resume."
        : "The rollout was left out of its group. Fix the reward, then start again or resume.",
      data: { count },
    });
  }
}

/** Now and then, and whenever nothing is left to train on: a starved run says so in every step. */
function recordStarvation(
  { session, stage, step, clock }: StepContext,
  { groups, verdicts, admitted }: Selected,
): void {
  if (admitted.length > 0 && clock.stageStep % 10 !== 0) return;
  const starved = starvation(groups, verdicts, stage.config.body.rollout.prompts);
  if (starved !== null)
    session.recorder.event("warning", "starved", starved.message, { step, action: starved.action });
}

function recordFaults({ session, stage, step }: StepContext): void {
  for (const { code, message, action } of stage.curriculum.faults())
    session.recorder.event("warning", code, message, { step, action });
}

/** What has happened to the curriculum, so that later runs can follow it. */
function recordNews({ session, stage, step }: StepContext): void {
  for (const { name, message, data } of stage.curriculum.events())
    session.recorder.event("info", name, message, { step, ...(data === undefined ? {} : { data }) });
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
  recordErrors(context, selected);
  recordStarvation(context, selected);
  recordFaults(context);
  recordNews(context);
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
        row: {
          ...identityOf(step, training.batch.records[row]!),
          source: "replay",
          ...divisions(training.batch, row),
          rewards: present(kept.terms.map((term) => [term.name, wireReward(term, 0)])),
          reward: orNull(training.scored.combined.total[row]!),
          advantage: orNull(training.advantages.rows[row]!),
          admitted: true,
        },
        columns: {
          ...columnsOf(training.batch, row),
          advantages: tokensOfRow(columnOfAdvantages(training.advantages), training.batch, row),
        },
      });
    });
}
