/** What re-scoring has changed, summed up step by step: no rollout is kept. */
import { meanOrNull } from "../../../shared/lib/mean.ts";
import { toWire, type RolloutRow, type WireNumber } from "../../../shared/rollouts/rollouts.ts";
import { rowValue } from "../../algorithm/rewards/rewards.ts";
import type { RewardColumn } from "../../core/reward.ts";
import { groupKey } from "../recorded.ts";
import { CriteriaTally, type CriterionChange } from "./criteriaChanges.ts";

export interface RescoredSummary {
  readonly type: "summary";
  readonly rollouts: number;
  readonly terms: Readonly<
    Record<
      string,
      {
        readonly mean: WireNumber | null;
        readonly before: WireNumber | null;
        readonly errors: number;
        readonly changed: number;
        /** By criterion, where the term judges by such. */
        readonly criteria?: Readonly<Record<string, CriterionChange>>;
      }
    >
  >;
  /** The combined reward. */
  readonly total: {
    readonly mean: WireNumber | null;
    readonly before: WireNumber | null;
    readonly changed: number;
    /** Rollouts that had a reward and have none now: a term of non-zero weight fails, or none applies. */
    readonly errors: number;
    /** Rollouts that were above their group's mean and are below it now, or the other way round. */
    readonly flips: number;
  };
  readonly groups: {
    readonly total: number;
    /** Groups whose rewards differ now and did not before, and the other way round: what training gains and loses. */
    readonly gained: readonly string[];
    readonly lost: readonly string[];
  };
}
/** The rollouts of a step, with what they were given and are given now. */
export interface RescoredPart {
  readonly rows: readonly RolloutRow[];
  readonly columns: readonly RewardColumn[];
  readonly recorded: readonly RewardColumn[];
  readonly now: readonly number[];
  readonly before: readonly number[];
}

export const wireOrNull = (value: number | null): WireNumber | null =>
  value === null || Number.isNaN(value) ? null : toWire(value);

const varies = (values: readonly number[]): boolean => {
  const known = values.filter((value) => !Number.isNaN(value));
  return known.some((value) => value !== known[0]);
};

/** Rows of each group. */
function membersOf(rows: readonly RolloutRow[]): Map<string, number[]> {
  const members = new Map<string, number[]>();
  rows.forEach((row, i) => {
    const key = groupKey(row);
    const known = members.get(key);
    if (known === undefined) members.set(key, [i]);
    else known.push(i);
  });
  return members;
}

/** Differences as small as rounding makes them have no side. */
function sides(values: readonly number[]): number[] {
  const known = values.filter((value) => !Number.isNaN(value));
  const centre = meanOrNull(known) ?? 0;
  const least = 1e-9 * Math.max(1, ...known.map(Math.abs));
  return values.map((value) => (Math.abs(value - centre) > least ? Math.sign(value - centre) : 0));
}

/** The mean of what is known. */
class KnownMean {
  private sum = 0;
  private count = 0;

  add(values: readonly number[]): void {
    for (const value of values) {
      if (Number.isNaN(value)) continue;
      this.sum += value;
      this.count += 1;
    }
  }

  get value(): WireNumber | null {
    return wireOrNull(this.count === 0 ? null : this.sum / this.count);
  }
}

class TermTally {
  readonly now = new KnownMean();
  readonly before = new KnownMean();
  readonly criteria = new CriteriaTally();
  changed = 0;
  errors = 0;
}

const differing = (now: readonly number[], before: readonly number[]): number =>
  now.filter((value, i) => !Object.is(value, before[i]!)).length;

export class RescoreTally {
  private rollouts = 0;
  private readonly terms = new Map<string, TermTally>();
  private readonly total = { now: new KnownMean(), before: new KnownMean(), changed: 0, errors: 0, flips: 0 };
  private readonly groups = { total: 0, gained: [] as string[], lost: [] as string[] };

  add(part: RescoredPart): void {
    const { rows, now, before, columns } = part;
    this.rollouts += rows.length;
    for (const column of columns) this.addTerm(column, part);
    this.total.now.add(now);
    this.total.before.add(before);
    this.total.changed += differing(now, before);
    this.total.errors += now.filter((value, i) => Number.isNaN(value) && !Number.isNaN(before[i]!)).length;
    for (const indices of membersOf(rows).values())
      this.addGroup(
        rows[indices[0]!]!,
        indices.map((i) => before[i]!),
        indices.map((i) => now[i]!),
      );
  }

  get summary(): RescoredSummary {
    const { now, before, changed, errors, flips } = this.total;
    return {
      type: "summary",
      rollouts: this.rollouts,
      terms: Object.fromEntries([...this.terms].map(([name, tally]) => [name, termSummary(tally)])),
      total: { mean: now.value, before: before.value, changed, errors, flips },
      groups: this.groups,
    };
  }

  private addTerm(column: RewardColumn, { rows, recorded }: RescoredPart): void {
    const tally = this.terms.get(column.name) ?? new TermTally();
    this.terms.set(column.name, tally);
    const was = recorded.find((other) => other.name === column.name);
    const now = rows.map((_, i) => rowValue(column, i));
    const before = rows.map((_, i) => (was === undefined ? Number.NaN : rowValue(was, i)));
    tally.now.add(now);
    tally.before.add(before);
    tally.changed += differing(now, before);
    tally.errors += column.errors.size;
    tally.criteria.add(column, was);
  }

  private addGroup({ step, group }: RolloutRow, before: readonly number[], now: readonly number[]): void {
    const [did, does] = [sides(before), sides(now)];
    this.total.flips += did.filter((side, i) => side * does[i]! < 0).length;
    this.groups.total += 1;
    if (varies(now) && !varies(before)) this.groups.gained.push(`${step}/${group}`);
    if (varies(before) && !varies(now)) this.groups.lost.push(`${step}/${group}`);
  }
}

function termSummary({
  now,
  before,
  errors,
  changed,
  criteria,
}: TermTally): RescoredSummary["terms"][string] {
  const changes = criteria.changes;
  return { mean: now.value, before: before.value, errors, changed, ...(changes && { criteria: changes }) };
}
