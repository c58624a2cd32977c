/** A run that looks like one: a warm-up of 300 steps and 120 of training over three arms. Deterministic. */
import { panelVersion, type LiveStep, type PanelRun, type ToPanel } from "../../shared/editor/runPanel.ts";
import type { PanelEvaluation, PanelEvent } from "../../shared/editor/runPanel.ts";
import type { RunSummary, Series } from "../../shared/protocol/protocol.ts";
import type { Verdict } from "../../shared/run/verdict.ts";
import { meanInterval } from "../../shared/run/passAtK.ts";
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
    "reward/total": 0.26 + 0.45 * skill + 0.035 * noise(),
    "reward/total/std": 0.34 - 0.12 * skill,
    "reward/total/p10": 0.05 + 0.1 * skill,
    "reward/total/p90": 0.8 + 0.15 * skill,
    "reward/correct": 0.2 + 0.42 * skill + 0.03 * noise(),
    "reward/correct/weight": 1,
    "reward/brevity": 0.2 + 0.1 * skill,
    "reward/brevity/weight": 0.3,
    "rollout/count": 256,
    "rollout/scored": t === 71 ? 254 : 256,
    "reward/correct/errors": t === 71 ? 2 : 0,
    "groups/all_right": right,
    "groups/all_wrong": wrong,
    "groups/mixed": 1 - right - wrong,
    "groups/drawn": 32,
    "groups/admitted": Math.round(32 * (1 - right - wrong)),
    "policy/entropy": 0.92 - 0.48 * skill + 0.03 * noise(),
    "rollout/length": 17 - 4 * skill + 0.5 * noise(),
    "rollout/length/p10": 9 - 2 * skill,
    "rollout/length/p50": 15 - 4 * skill,
    "rollout/length/p90": 29 - 8 * skill,
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

const heldOut = 128;
const intervalOf = (rate: number) =>
  meanInterval(Array.from({ length: heldOut }, (_, i) => (i < Math.round(rate * heldOut) ? 1 : 0)))!;

export const evaluationsUpTo = (last: number): readonly PanelEvaluation[] =>
  [0, 40, 80, 119]
    .filter((t) => warmUp + t <= last)
    .map((t, i) => ({
      step: warmUp + t,
      role: i === 0 ? ("first" as const) : t === 119 ? ("last" as const) : ("periodic" as const),
      tasks: heldOut,
      ...evaluated([0.204, 0.293, 0.388, 0.451][i]!, [0.31, 0.37, 0.45, 0.5][i]!),
    }));

export const evaluated = (pass: number, greedy: number) => {
  const metrics = {
    "eval/pass@1": pass,
    "eval/pass@8": Math.min(1, 0.55 + 0.3 * pass),
    "eval/greedy": greedy,
  };
  const intervals = Object.fromEntries(
    Object.entries(metrics).map(([name, rate]) => [name, intervalOf(rate)]),
  );
  return { metrics, intervals };
};

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
    checkpoints: [50, 150, 250, 340, 380].filter((one) => one < step).map((one) => ({ step: one })),
    attempts: step > warmUp + 60 ? [{ attempt: 1, from: warmUp + 50 }] : [],
    seed: 7,
    commit: "4f2c1e0a+",
    group: 8,
    device: "CPU, 2 threads",
  };
}

export const verdict: Verdict = {
  state: "hacking",
  label: "hacking `brevity`",
  since: 352,
  step: 384,
  headline:
    "Held-out pass@1 20 → 18 % (128 tasks, −2 ± 3), while the training reward rose 0.22 → 0.61: answers shrank from 17 to 13 tokens.",
  details: [
    "In 84 of 100 groups no answer was right: there `brevity` alone ranks them, and `group_std` makes that an advantage of ±2.4.",
    "An empty answer scores 1 on `brevity`.",
  ],
  against: "Entropy fell too, about 12 steps later.",
  cause: { term: "brevity", key: "reward.terms.brevity.weight", shown: true },
  rollouts: [
    { step: 384, group: "countdown 4 6 7 → 21", index: 3, why: "reinforced most" },
    { step: 384, group: "countdown 3 5 7 → 20", index: 2, why: "right, and pushed down" },
    { step: 352, group: "countdown 4 6 7 → 21", index: 0, why: "before it began" },
  ],
  fixes: [
    {
      title: "Score brevity only if correct",
      set: [{ path: "reward.terms.brevity.gate", value: "correct" }],
      effect: "scored again over 6,464 rollouts: the empty answer's advantage +1.3 → 0",
      leaves: "16 % of groups teach.",
    },
    {
      title: "Warm up for 800 steps",
      set: [{ path: "stages.0.steps", value: 800 }],
      effect: null,
      leaves: null,
    },
  ],
  reliability: "wrong in 1 of 60 healthy runs",
  timeline: [
    { state: "too early", label: "too early", since: null, from: 300, to: 330 },
    { state: "learning", label: "learning", since: 300, from: 331, to: 351 },
    { state: "hacking", label: "hacking `brevity`", since: 352, from: 352, to: 384 },
  ],
};

const events: readonly PanelEvent[] = [
  { step: warmUp + 71, severity: "error", message: "The reward term correct failed on 2 rollouts." },
];

export const show = (
  step: number,
  changes: Partial<RunSummary> = {},
): Extract<ToPanel, { type: "show" }> => ({
  version: panelVersion,
  type: "show",
  run: runAt(step, changes),
  series: seriesUpTo(step),
  evaluations: evaluationsUpTo(step),
  errors: 0,
  events: events.filter((event) => event.step <= step),
});

export const live = (steps: readonly number[], changes: Partial<RunSummary> = {}): ToPanel => ({
  version: panelVersion,
  type: "live",
  run: runAt(steps.at(-1)!, changes),
  steps: steps.map((step) => liveStep(step, changes.attempt ?? 0)),
  evaluations: evaluationsUpTo(steps.at(-1)!),
  errors: 0,
});
