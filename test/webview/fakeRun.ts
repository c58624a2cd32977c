/** A run that looks like one: a warm-up of 300 steps and 120 of training over three arms. Deterministic. */
import { panelVersion, type LiveStep, type PanelRun, type ToPanel } from "../../shared/editor/runPanel.ts";
import type { EvaluationRow, RunSummary, Series } from "../../shared/protocol/protocol.ts";
import { numberStream } from "./random.ts";

export const warmUp = 300;
export const training = 120;
export const arms = ["countdown/3", "countdown/4", "countdown/5"];

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

function warmUpMetrics(step: number, noise: () => number): Record<string, number> {
  return {
    "update/loss": 0.5 + 2.4 * Math.exp(-step / 60) + 0.05 * noise(),
    "update/grad_norm": 0.8 + Math.exp(-step / 40) + 0.1 * Math.abs(noise()),
    "time/update": 0.12 + 0.01 * Math.abs(noise()),
    "time/total": 0.13 + 0.01 * Math.abs(noise()),
    "tokens/trained": 2048,
  };
}

function trainingMetrics(t: number, noise: () => number): Record<string, number> {
  const skill = sigmoid((t - 45) / 22);
  const right = Math.min(0.9, Math.max(0, 0.05 + 0.4 * skill + 0.03 * noise()));
  const wrong = Math.min(1 - right, Math.max(0.02, 0.55 * (1 - skill) + 0.04 * noise()));
  const weights = [Math.exp(1.2 - 2.4 * skill), 1 + 0.1 * noise(), Math.exp(-1.4 + 2.6 * skill)].map(
    (weight) => Math.max(weight, 0.02),
  );
  const total = weights.reduce((a, b) => a + b, 0);
  const generate = 0.42 + 0.04 * Math.abs(noise());
  const update = 0.31 + 0.03 * Math.abs(noise());
  const evaluate = t % 40 === 0 ? 0.9 : 0;
  return {
    "reward/total": 0.22 + 0.45 * skill + 0.035 * noise(),
    "reward/total/std": 0.34 - 0.12 * skill,
    "reward/correct": 0.2 + 0.42 * skill + 0.03 * noise(),
    "reward/correct/errors": t === 71 ? 2 : 0,
    "groups/all_right": right,
    "groups/all_wrong": wrong,
    "groups/mixed": 1 - right - wrong,
    "groups/drawn": 32,
    "groups/admitted": Math.round(32 * (1 - right - wrong)),
    "policy/entropy": 0.92 - 0.48 * skill + 0.03 * noise(),
    "rollout/length": 17 - 4 * skill + 0.5 * noise(),
    "rollout/truncated": Math.max(0, 0.09 - 0.08 * skill + 0.01 * noise()),
    ...Object.fromEntries(arms.map((arm, i) => [`curriculum/${arm}/share`, weights[i]! / total])),
    ...Object.fromEntries(
      arms.flatMap((arm, i) => [
        [`curriculum/${arm}/estimate`, sigmoid((t - 15 - 40 * i) / 22)],
        [`curriculum/${arm}/spread`, 0.05 + 0.04 * i],
      ]),
    ),
    "groups/zero_advantage": 1 - right - wrong < 0.3 ? 0.6 : right + wrong,
    "update/loss": 0.02 * noise(),
    "update/grad_norm": 0.4 + 0.15 * Math.abs(noise()),
    "update/clip_fraction": 0.03 + 0.004 * Math.abs(noise()),
    "update/clip_low": 0.012,
    "update/clip_high": 0.018 + 0.004 * Math.abs(noise()),
    "update/ess": 0.97 - 0.01 * Math.abs(noise()),
    "update/anchor_kl": 0.0008 + 0.0001 * Math.abs(noise()),
    "policy/kl/reference": 0.0004 * t,
    "time/generate": generate,
    "time/reward": 0.03,
    "time/score": 0.05,
    "time/update": update,
    "time/evaluate": evaluate,
    "time/log": 0.01,
    "time/total": generate + update + evaluate + 0.09,
    "tokens/generated": 256 * (17 - 4 * skill),
    "memory/rss": 6.4e8 + 1.5e7 * noise(),
    "memory/peak": 6.9e8,
    "memory/predicted": 7.6e8,
  };
}

export function metricsOf(step: number): Record<string, number> {
  const noise = numberStream(step + 1);
  return step < warmUp ? warmUpMetrics(step, noise) : trainingMetrics(step - warmUp, noise);
}

export const liveStep = (step: number, attempt = 0): LiveStep => ({
  step,
  attempt,
  metrics: metricsOf(step),
});

export function seriesUpTo(last: number): readonly Series[] {
  const columns = new Map<string, { steps: number[]; values: number[] }>();
  for (let step = 0; step <= last; step++)
    for (const [metric, value] of Object.entries(metricsOf(step))) {
      const column = columns.get(metric) ?? { steps: [], values: [] };
      columns.set(metric, column);
      column.steps.push(step);
      column.values.push(value);
    }
  return [...columns].map(([metric, { steps, values }]) => ({ metric, steps, values, total: steps.length }));
}

export const evaluationsUpTo = (last: number): readonly EvaluationRow[] =>
  [0, 40, 80, 119]
    .filter((t) => warmUp + t <= last)
    .map((t, i) => ({
      step: warmUp + t,
      role: i === 0 ? ("first" as const) : t === 119 ? ("last" as const) : ("periodic" as const),
      metrics: {
        "eval/pass@1": [0.204, 0.293, 0.388, 0.451][i]!,
        "eval/greedy": [0.31, 0.37, 0.45, 0.5][i]!,
      },
    }));

export function summaryAt(step: number, changes: Partial<RunSummary> = {}): RunSummary {
  return {
    id: "20261121-193000-k3q9",
    name: "countdown-sec",
    file: "/project/countdown.gradus.yaml",
    status: "running",
    message: null,
    attempt: 0,
    step,
    steps: warmUp + training,
    stage: step < 0 ? null : step < warmUp ? "warm-up" : "full",
    startedAt: "2026-11-21T19:30:00.000Z",
    endedAt: null,
    backend: "native CPU",
    headline: {},
    first: null,
    last: null,
    ...changes,
  };
}

export function runAt(step: number, changes: Partial<RunSummary> = {}): PanelRun {
  const stages = [
    { step: 0, name: "warm-up", kind: "sft" },
    { step: warmUp, name: "full", kind: "rl" },
  ];
  return {
    summary: summaryAt(step, changes),
    stages: stages.filter((stage) => stage.step <= step),
    planned: [
      { name: "warm-up", kind: "sft", steps: warmUp },
      { name: "full", kind: "rl", steps: training },
    ],
    checkpoints: step > 50 ? [{ step: 50 }] : [],
    group: 8,
    backendReason: "2 threads",
  };
}

export const show = (step: number, changes: Partial<RunSummary> = {}): ToPanel => ({
  version: panelVersion,
  type: "show",
  run: runAt(step, changes),
  series: seriesUpTo(step),
  evaluations: evaluationsUpTo(step),
  errors: 0,
});

export const live = (steps: readonly number[], changes: Partial<RunSummary> = {}): ToPanel => ({
  version: panelVersion,
  type: "live",
  run: runAt(steps.at(-1)!, changes),
  steps: steps.map((step) => liveStep(step, changes.attempt ?? 0)),
  evaluations: evaluationsUpTo(steps.at(-1)!),
  errors: 0,
});
