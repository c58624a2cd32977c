/** Runs as the verdict reads them, written by hand: a metric is a function of the step. */
import type { VerdictRecord } from "../../../../server/analysis/verdict/record.ts";
import { Timeline } from "../../../../server/analysis/verdict/timeline.ts";
import { verdictOf } from "../../../../server/analysis/verdict/verdict.ts";
import type { JsonObject } from "../../../../shared/lib/json.ts";
import type { EvaluationRow } from "../../../../shared/protocol/protocol.ts";
import type { Verdict, VerdictState } from "../../../../shared/run/verdict.ts";

export type Course = (step: number) => number;

export interface Sketch {
  readonly steps?: number;
  readonly metrics: Readonly<Record<string, Course>>;
  readonly config?: JsonObject;
  readonly evaluations?: readonly EvaluationRow[];
  readonly record?: Partial<VerdictRecord>;
}

/** Between −1 and 1, the same at each call. */
export const noise = (step: number, salt = 0): number => {
  const sine = Math.sin((step + 1) * 12.9898 + salt * 78.233) * 43758.5453;
  return 2 * (sine - Math.floor(sine)) - 1;
};

/** From one value to another between two steps, with noise. */
export const ramp =
  (from: number, to: number, [begin, end]: readonly [number, number], spread = 0.01): Course =>
  (step) => {
    const share = Math.min(1, Math.max(0, (step - begin) / (end - begin)));
    return from + (to - from) * share + spread * noise(step, from);
  };
export const level = (value: number, spread = 0.01): Course => ramp(value, value, [0, 1], spread);

export const config: JsonObject = {
  rollout: { prompts: 32, group: 8 },
  reward: {
    terms: { correct: { use: "equation", weight: 1 }, brevity: { use: "./brevity.ts", weight: 0.1 } },
    combine: { use: "sum" },
    success: { terms: ["correct"], at_least: 1 },
  },
  advantage: { baseline: { use: "group_mean" }, scale: { use: "group_std" } },
  evaluation: { every: 20, prompts: 400, samples: 4 },
  update: { optimizer: { lr: 0.001 } },
};

/** What a run that learns records, without its evaluations. */
export const sound: Readonly<Record<string, Course>> = {
  "rollout/count": () => 256,
  "groups/drawn": () => 32,
  "reward/total": ramp(0.2, 0.5, [0, 100], 0.03),
  "reward/correct": ramp(0.15, 0.45, [0, 100], 0.03),
  "reward/correct/weight": () => 1,
  "reward/brevity": level(0.5),
  "reward/brevity/weight": () => 0.1,
  "groups/success_rate": ramp(0.15, 0.45, [0, 100], 0.03),
  "groups/all_wrong": ramp(0.4, 0.2, [0, 100], 0.05),
  "groups/all_right": ramp(0.05, 0.2, [0, 100], 0.02),
  "groups/zero_advantage": ramp(0.45, 0.4, [0, 100], 0.05),
  "policy/entropy": ramp(1, 0.6, [0, 100], 0.03),
  "rollout/length": level(7, 0.2),
  "tokens/trained": () => 1500,
  "update/loss": level(0, 0.01),
  "update/grad_norm": level(1, 0.2),
};

export function recordOf({
  steps = 100,
  metrics,
  config: own = config,
  evaluations = [],
  record,
}: Sketch): VerdictRecord {
  const all = Float64Array.from({ length: steps }, (_, step) => step);
  const series = Object.entries(metrics).map(([name, course]) => [
    name,
    { steps: all, values: all.map(course) },
  ]);
  return {
    config: own,
    step: steps - 1,
    steps,
    stages: [{ step: 0, name: "rl", kind: "rl" }],
    series: Object.fromEntries(series),
    evaluations,
    groups: [],
    failures: [],
    imported: false,
    ...record,
  };
}

/** pass@1 of 400 tasks of four answers each, the same tasks: `right` of every four answers of a task, by its place. */
export const evaluation = (
  step: number,
  right: (task: number) => number,
  role: EvaluationRow["role"] = step < 0 ? "first" : "periodic",
): EvaluationRow => {
  const tasks = Array.from({ length: 400 }, (_, task) => task);
  const counts = tasks.map(right);
  return {
    step,
    role,
    metrics: { "eval/pass@1": counts.reduce((sum, count) => sum + count, 0) / 1600 },
    results: {
      tasks: tasks.map((task) => `t${task}`),
      arms: tasks.map(() => "a"),
      samples: tasks.map(() => 4),
      right: counts,
      greedy: tasks.map(() => null),
    },
  };
};

/** Answers that are right with a chance, the same tasks being the easy ones each time. */
export const chance =
  (rate: number, salt = 0) =>
  (task: number): number => {
    const ease = (noise(task, 3) + 1) / 2;
    const p = Math.min(1, 2 * rate * ease);
    return Array.from({ length: 4 }, (_, i) => Number((noise(task * 4 + i, 11 + salt) + 1) / 2 < p)).reduce(
      (sum, one) => sum + one,
      0,
    );
  };

export const timelineOf = (record: VerdictRecord, to?: number): Timeline =>
  new Timeline(record).extend(record, to);
export const states = (record: VerdictRecord): readonly VerdictState[] =>
  timelineOf(record).spans.map(({ finding }) => finding.state);
export const verdict = (sketch: Sketch): Verdict => {
  const record = recordOf(sketch);
  const found = verdictOf(record, timelineOf(record));
  if (found === null) throw new Error("there is no verdict");
  return found;
};
