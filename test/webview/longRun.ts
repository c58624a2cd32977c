/** Runs of any length whose metrics are known in closed form, as a store would hold and answer them. */
import { bucketed } from "../../server/store/queries/bucketed.ts";
import type { PointArrays } from "../../server/store/ingest/points.ts";
import type { Series } from "../../shared/protocol/protocol.ts";
import { mostBuckets, panelStacks, panelVersion, type ToPanel } from "../../shared/editor/runPanel.ts";
import { runAt } from "./fakeRun.ts";

/** Noise in [0, 1) that a step alone decides. */
export const noiseAt = (step: number, salt = 0): number => {
  const mixed = Math.imul(step + 1 + salt * 7919, 2654435761) >>> 0;
  return ((Math.imul(mixed ^ (mixed >>> 15), 2246822519) >>> 0) % 65_536) / 65_536;
};

const rightAt = (step: number): number => 0.2 + 0.15 * Math.sin(step / 900) + 0.1 * noiseAt(step, 1);
const wrongAt = (step: number): number => 0.3 + 0.1 * Math.cos(step / 700) + 0.1 * noiseAt(step, 2);

export const spike = 99;

/** A metric's value at a step; undefined where it records none there. */
export type Recorded = Readonly<Record<string, (step: number) => number | undefined>>;
export const longRun = (steps: number): Recorded => {
  const spikeAt = Math.floor(steps * 0.654_321);
  return {
    "groups/all_right": rightAt,
    "groups/mixed": (step) => 1 - rightAt(step) - wrongAt(step),
    "groups/all_wrong": wrongAt,
    "policy/entropy": (step) => (step === spikeAt ? spike : Math.sin(step / 500) + noiseAt(step, 3)),
    "reward/total": (step) => 0.3 + 0.2 * noiseAt(step, 4),
    "update/loss": (step) => (step % 3 === 0 ? noiseAt(step, 5) : undefined),
    "update/grad_norm": (step) => (step % 4 === 1 ? noiseAt(step, 6) : undefined),
    "time/generate": () => 2,
    "time/update": () => 1,
    "time/evaluate": (step) => (step % 50 === 0 ? 10 : undefined),
    "time/total": (step) => (step % 50 === 0 ? 13 : 3),
  };
};

export function pointsOf(value: Recorded[string], after: number, before: number): PointArrays {
  const steps: number[] = [];
  const values: number[] = [];
  for (let step = Math.max(0, after + 1); step < before; step++) {
    const here = value(step);
    if (here === undefined) continue;
    steps.push(step);
    values.push(here);
  }
  return { steps: Float64Array.from(steps), values: Float64Array.from(values) };
}

/** What the store answers to a panel that asks for these steps. */
export function answered(
  run: Recorded,
  first: number,
  last: number,
  most = mostBuckets,
  smooth = 0,
): readonly Series[] {
  const metrics = Object.keys(run);
  const wanted = { metrics, stacks: panelStacks(metrics), first, last, most, smooth };
  const reading = bucketed(wanted, (metric, after, before) => pointsOf(run[metric]!, after, before));
  for (;;) {
    const next = reading.next();
    if (next.done === true) return next.value;
  }
}

const correctAt = (step: number): number => 0.3 + 0.2 * noiseAt(step, 4);
const brevityAt = (step: number): number => 0.6 + 0.3 * noiseAt(step, 7);
const weightAt = (step: number): number => 0.7 - (0.5 * step) / 1_000_000;

/** What else a run records, for pictures: terms with their weights, constants, numbers that are rounding. */
const around: Recorded = {
  "reward/total": (step) => correctAt(step) + brevityAt(step) * weightAt(step),
  "reward/total/std": () => 0.45,
  "reward/correct": correctAt,
  "reward/correct/weight": () => 1,
  "reward/brevity": brevityAt,
  "reward/brevity/weight": weightAt,
  "groups/zero_advantage": (step) => 0.2 + 0.1 * noiseAt(step, 8),
  "groups/drawn": () => 16,
  "groups/admitted": () => 16,
  "curriculum/countdown/3/share": (step) => 0.5 + 0.3 * Math.sin(step / 800),
  "curriculum/countdown/4/share": (step) => 0.5 - 0.3 * Math.sin(step / 800),
  "update/loss": (step) => (noiseAt(step, 5) - 0.5) * 8e-15,
  "update/grad_norm": (step) => 0.2 + noiseAt(step, 6),
  "update/clip_low": () => 0,
  "update/clip_high": () => 0,
  "update/clip_fraction": () => 0,
  "mismatch/k3": (step) => 1e-6 * (1 + noiseAt(step, 9)),
  "rollout/length": (step) => 12 + 3 * noiseAt(step, 10),
  "rollout/truncated": () => 0,
};

/** Such a run as the panel is shown it. */
export function longShow(steps: number, run: Recorded = { ...longRun(steps), ...around }): ToPanel {
  const last = steps - 1;
  return {
    version: panelVersion,
    type: "show",
    run: { ...runAt(last, { steps }), stages: [{ step: 0, name: "full", kind: "rl" }] },
    series: answered(run, 0, last),
    evaluations: [0, 0.25, 0.5, 0.75, 1].map((share) => ({
      step: Math.round(share * last),
      role: "periodic",
      metrics: { "eval/pass@1": 0.2 + 0.2 * share, "eval/pass@8": 0.5 + 0.2 * share, "eval/greedy": 0.3 },
    })),
    errors: 0,
  };
}
