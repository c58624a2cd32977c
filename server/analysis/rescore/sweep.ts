/** What a term's weight would change, over a range of weights: combines the stored columns again and runs nothing. */
import { setImmediate } from "node:timers/promises";
import { UserError } from "../../../shared/lib/errors.ts";
import type { Sweep, SweepPoint } from "../../../shared/rollouts/rescore.ts";
import { rowValue } from "../../algorithm/rewards/rewards.ts";
import { valueAt } from "../../core/schedule.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import type { StageBody } from "../../core/config/resolved.ts";
import type { Batch } from "../../core/rollouts.ts";
import type { RewardColumn } from "../../core/reward.ts";
import { isLost } from "../imported/isLost.ts";
import { ComparisonTally, membersOf } from "./compare.ts";
import { scoreStep } from "./scoreStep.ts";
import type { RescoreOptions, RescoreSession, Scored } from "./session.ts";
import { sweepPicture } from "./sweepPicture.ts";

const points = 21;
/** Steps looked at, and milliseconds after which no further step starts. */
const [stepsAtMost, within] = [16, 600];

/**
 * A sample of the whole run: what a weight does at the end of a run that has collapsed is not what it did before. Evenly
 * spread, the last step first, then each halfway between those before, so that any beginning of it is spread, too.
 */
export function sampleOf(steps: readonly number[], most = stepsAtMost): readonly number[] {
  const count = Math.min(most, steps.length);
  const even = Array.from(
    { length: count },
    (_, i) => steps[count === 1 ? steps.length - 1 : Math.round((i * (steps.length - 1)) / (count - 1))]!,
  );
  const order = [count - 1, 0].slice(0, count);
  for (const gaps = [[0, count - 1]]; gaps.length > 0;) {
    const [low = 0, high = 0] = gaps.shift() ?? [];
    const middle = (low + high) >> 1;
    if (high - low < 2) continue;
    order.push(middle);
    gaps.push([low, middle], [middle, high]);
  }
  return order.map((i) => even[i]!);
}

interface SweepWish {
  readonly term: string;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** One weight, over the steps so far. */
interface Swept {
  readonly weight: number;
  readonly tally: ComparisonTally;
  /** Weighted spread within groups: of the term, and of all. */
  own: number;
  all: number;
}

export async function sweep(
  session: RescoreSession,
  config: RunConfig,
  steps: readonly number[],
  { term, from, to }: SweepWish,
  options: RescoreOptions,
): Promise<Sweep> {
  const began = performance.now();
  const sample = sampleOf(steps);
  const notes = new Set<string>();
  const seen: number[] = [];
  let weight = 0;
  let swept: readonly Swept[] = [];
  for (const step of sample) {
    options.signal.throwIfAborted();
    const scored = await session.scored(config, step, options).catch((error: unknown) => {
      if (!isLost(error) || (seen.length === 0 && step === sample.at(-1))) throw error;
      notes.add(error.message);
      return undefined;
    });
    if (scored === undefined) continue;
    if (seen.length === 0) {
      weight = weightOf(scored, term);
      swept = rangeOf(weight, from, to).map((at) => ({
        weight: at,
        tally: new ComparisonTally(),
        own: 0,
        all: 0,
      }));
    }
    addStep(swept, scored, term);
    for (const note of scored.notes) notes.add(note);
    seen.push(step);
    if (performance.now() - began > within) break;
    // Another edit may have come: its message is read between two steps.
    await setImmediate();
  }
  const points = swept.map(pointOf);
  const { rollouts = 0, signed = 0, pairs = 0 } = swept[0]?.tally.change ?? {};
  return {
    run: session.run.id,
    term,
    weight,
    points,
    rollouts,
    signed,
    pairs,
    from: Math.min(...seen),
    to: Math.max(...seen),
    steps: seen.length,
    of: steps.length,
    notes: [...notes],
    picture: sweepPicture(points, weight, signed),
  };
}

function weightOf({ body, clock }: Scored, term: string): number {
  const written = body.reward.terms.find(({ name }) => name === term);
  if (written !== undefined) return valueAt(written.weight, clock);
  throw new UserError(`the config has no reward term "${term}" in the stage that ran last`, {
    code: "rescore-term",
    action: "Name one of reward.terms.",
  });
}

function addStep(swept: readonly Swept[], { kept, body, clock, batch, columns }: Scored, term: string): void {
  const { rows, stats } = kept.stored;
  const spreads = columns.map((column) => spreadOf(column, batch));
  for (const point of swept) {
    const changed = withWeight(body, term, point.weight);
    const now = scoreStep(changed, clock, columns, batch, stats);
    point.tally.add({ rows, group: batch.group, groups: batch.groups, before: kept.before, now });
    changed.reward.terms.forEach((one, index) => {
      const part = Math.abs(valueAt(one.weight, clock)) * spreads[index]!;
      point.all += part;
      if (one.name === term) point.own += part;
    });
  }
}

function pointOf({ weight, tally, own, all }: Swept): SweepPoint {
  const { rankFlips, signFlips, gained, lost } = tally.change;
  return { weight, share: all === 0 ? 0 : own / all, rankFlips, signFlips, gained, lost };
}

/** From 0 to twice the weight, at least to 1; the weight itself is among them. */
export function rangeOf(weight: number, from = 0, to?: number): number[] {
  const end = to ?? (weight === 0 ? 1 : 2 * weight);
  const even = Array.from({ length: points }, (_, index) => from + ((end - from) * index) / (points - 1));
  const inside = weight >= Math.min(from, end) && weight <= Math.max(from, end);
  const all = inside ? [...even, weight] : even;
  const rounded = all.map((value) => Number(value.toPrecision(6)));
  return [...new Set(rounded)].sort((one, other) => (one - other) * Math.sign(end - from || 1));
}

const withWeight = (body: StageBody, term: string, weight: number): StageBody => ({
  ...body,
  reward: {
    ...body.reward,
    terms: body.reward.terms.map((one) => (one.name === term ? { ...one, weight } : one)),
  },
});

/** Σ over rollouts of the distance from the group's mean. */
function spreadOf(column: RewardColumn, batch: Batch): number {
  let sum = 0;
  for (const members of membersOf(batch)) {
    const values = members.map((row) => rowValue(column, row)).filter((value) => !Number.isNaN(value));
    const mean = values.reduce((all, value) => all + value, 0) / values.length;
    for (const value of values) sum += Math.abs(value - mean);
  }
  return sum;
}
