/** A run's log as the verdict reads it. */
import type { LogRecord } from "../../shared/log/records.ts";
import { attemptsOf, logStart, readCommitted, type LogPosition } from "../../shared/log/reader.ts";
import { fromWire, type RolloutRow } from "../../shared/rollouts/rollouts.ts";
import { isRead, type VerdictRecord } from "../../server/analysis/verdict/record.ts";

const most = 50;

function* committed(folder: string): Generator<LogRecord> {
  for (const attempt of attemptsOf(folder)) {
    let position: LogPosition = logStart;
    for (let more = true; more;) {
      const found = readCommitted(folder, attempt, position);
      for (const { records } of found.steps) yield* records;
      ({ position, more } = found);
    }
  }
}

/** Every rollout of a run, without its tokens. */
export const allRollouts = (folder: string): readonly RolloutRow[] =>
  [...committed(folder)].flatMap((record) => (record.kind === "rollout" ? [briefly(record.row)] : []));

type Points = Record<string, { steps: number[]; values: number[] }>;

/** @throws Error where the log has no start */
export function recorded(folder: string): {
  readonly record: VerdictRecord;
  readonly rollouts: readonly RolloutRow[];
} {
  const points: Points = {};
  const add = (name: string, step: number, value: number): void => {
    if (!isRead(name)) return;
    const own = (points[name] ??= { steps: [], values: [] });
    own.steps.push(step);
    own.values.push(value);
  };
  const stages: { step: number; name: string; kind: string }[] = [];
  const evaluations: VerdictRecord["evaluations"][number][] = [];
  const rollouts: RolloutRow[] = [];
  let start: Extract<LogRecord, { kind: "start" }> | undefined;
  let last = -1;
  for (const record of committed(folder)) {
    if (record.kind === "start") start = record;
    else if (record.kind === "stage") stages.push({ ...record, kind: record.stage_kind });
    else if (record.kind === "metrics") {
      last = Math.max(last, record.step);
      for (const [name, value] of Object.entries(record.values)) add(name, record.step, fromWire(value));
    } else if (record.kind === "evaluation" && record.role !== "matrix") {
      const { step, role, metrics, results } = record;
      evaluations.push({ step, role, metrics, ...(results === undefined ? {} : { results }) });
    } else if (record.kind === "rollout") rollouts.push(briefly(record.row));
  }
  if (start === undefined) throw new Error(`${folder} has no log`);
  const series = Object.entries(points).map(([name, { steps, values }]) => [
    name,
    { steps: Float64Array.from(steps), values: Float64Array.from(values) },
  ]);
  const { config, steps, origin } = start;
  return {
    record: {
      config,
      step: last,
      steps,
      stages: stages.map(({ step, name, kind }) => ({ step, name, kind })),
      series: Object.fromEntries(series),
      evaluations,
      groups: [],
      failures: [],
      imported: origin !== undefined,
    },
    rollouts: spread(rollouts),
  };
}

type Kept = Pick<
  RolloutRow,
  | "step"
  | "group"
  | "index"
  | "task"
  | "prompt"
  | "response"
  | "rewards"
  | "errors"
  | "reward"
  | "advantage"
  | "use"
>;
const kept = "step group index task prompt response rewards errors reward advantage use".split(" ");

const briefly = (row: Kept): RolloutRow =>
  Object.fromEntries(Object.entries(row).filter(([name]) => kept.includes(name))) as unknown as RolloutRow;

/** Evenly over the run. */
const spread = (rows: readonly RolloutRow[]): readonly RolloutRow[] =>
  rows.length <= most
    ? rows
    : Array.from({ length: most }, (_, i) => rows[Math.floor((i * rows.length) / most)]!);
