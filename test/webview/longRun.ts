/** Runs of any length whose metrics are known in closed form, as a store would hold and answer them. */
import { bucketed } from "../../server/store/bucketed.ts";
import type { PointArrays } from "../../server/store/points.ts";
import type { Series } from "../../shared/protocol.ts";
import { mostBuckets, panelStacks } from "../../shared/runPanel.ts";

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
export function answered(run: Recorded, first: number, last: number, most = mostBuckets): readonly Series[] {
  const metrics = Object.keys(run);
  const wanted = { metrics, stacks: panelStacks(metrics), first, last, most };
  const reading = bucketed(wanted, (metric, after, before) => pointsOf(run[metric]!, after, before));
  for (;;) {
    const next = reading.next();
    if (next.done === true) return next.value;
  }
}
