/** What re-scoring has changed, summed up step by step: no rollout is kept. */
import { meanOrNull } from "../../../shared/lib/mean.ts";
import { toWire, type RolloutRow, type WireNumber } from "../../../shared/rollouts/rollouts.ts";
import { rowValue } from "../../algorithm/rewards/rewards.ts";
import { status, type RewardColumn } from "../../core/reward.ts";
import { groupKey } from "../recorded.ts";
import type { RescoredPart } from "./rescoredPart.ts";
import { PreferenceTally, type RankedRewards } from "./preferenceTally.ts";
import { CriteriaTally, type CriterionChange } from "./criteriaChanges.ts";

/** Means over the rollouts that have a value both times: what fails now would else seem to raise the mean. */
interface ComparedMeans {
  readonly rollouts: number;
  readonly before: WireNumber | null;
  readonly mean: WireNumber | null;
  /** Of these, those whose value is another. */
  readonly changed: number;
  /** Rollouts that have a value only now, and those that had one. */
  readonly gained: number;
  readonly lost: number;
}

interface UnrecordedRollout {
  readonly step: number;
  readonly group: string;
  /** The group's number in its step, from 0. */
  readonly number: number;
  readonly index: number;
}

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
        /** Rollouts that the term applies to; where it failed on all of them it is broken. */
        readonly asked: number;
        readonly compared: ComparedMeans;
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
    readonly compared: ComparedMeans;
    /** Rollouts without a recorded reward that have one now: an edit has not changed them. */
    readonly unrecorded: {
      readonly count: number;
      /** Of these, those that were recorded as NaN. */
      readonly nan: number;
      readonly first: readonly UnrecordedRollout[];
    };
  };
  /** Terms that keep their recorded values, and why. */
  readonly notes?: readonly string[];
  readonly groups: {
    readonly total: number;
    /** Groups whose rewards differ now and did not before, and the other way round: what training gains and loses. */
    readonly gained: readonly string[];
    readonly lost: readonly string[];
  };
  readonly preference: RankedRewards;
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

/** What rounding alone has moved has not changed. */
const rounding = 1e-9;

/** Differences as small as rounding makes them have no side. */
function sides(values: readonly number[]): number[] {
  const known = values.filter((value) => !Number.isNaN(value));
  const centre = meanOrNull(known) ?? 0;
  const least = rounding * Math.max(1, ...known.map(Math.abs));
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

class ComparedTally {
  private readonly before = new KnownMean();
  private readonly now = new KnownMean();
  private rollouts = 0;
  private changed = 0;
  private gained = 0;
  private lost = 0;

  add(now: readonly number[], before: readonly number[]): void {
    const both = now.flatMap((value, i) =>
      Number.isNaN(value) || Number.isNaN(before[i]!) ? [] : [[before[i]!, value] as const],
    );
    this.before.add(both.map(([was]) => was));
    this.now.add(both.map(([, is]) => is));
    this.rollouts += both.length;
    const had = before.filter((value) => !Number.isNaN(value)).length;
    const has = now.filter((value) => !Number.isNaN(value)).length;
    this.gained += has - both.length;
    this.lost += had - both.length;
    this.changed += both.filter(
      ([was, is]) => Math.abs(is - was) > rounding * Math.max(1, Math.abs(was)),
    ).length;
  }

  get means(): ComparedMeans {
    const { rollouts, before, now, changed, gained, lost } = this;
    return { rollouts, before: before.value, mean: now.value, changed, gained, lost };
  }
}

/** Unrecorded rollouts that a summary names. */
const named = 5;

class UnrecordedTally {
  private count = 0;
  private nan = 0;
  private readonly first: UnrecordedRollout[] = [];

  add({ rows, now, before }: RescoredPart): void {
    const groups = [...new Set(rows.map(groupKey))];
    rows.forEach((row, i) => {
      if (!Number.isNaN(before[i]!) || Number.isNaN(now[i]!)) return;
      this.count += 1;
      const { step, group, index, reward } = row;
      if (typeof reward === "string") this.nan += 1;
      const number = groups.indexOf(groupKey(row));
      if (this.first.length < named) this.first.push({ step, group: String(group), number, index });
    });
  }

  get found(): RescoredSummary["total"]["unrecorded"] {
    return { count: this.count, nan: this.nan, first: this.first };
  }
}

class TermTally {
  readonly compared = new ComparedTally();
  asked = 0;
  readonly now = new KnownMean();
  readonly before = new KnownMean();
  readonly criteria = new CriteriaTally();
  changed = 0;
  errors = 0;
}

const differing = (now: readonly number[], before: readonly number[]): number =>
  now.filter((value, i) => !Object.is(value, before[i]!)).length;

export class RescoreTally {
  private readonly preference: PreferenceTally;
  private rollouts = 0;
  private readonly terms = new Map<string, TermTally>();
  private readonly total = { now: new KnownMean(), before: new KnownMean(), changed: 0, errors: 0, flips: 0 };
  private readonly compared = new ComparedTally();
  private readonly unrecorded = new UnrecordedTally();
  private readonly groups = { total: 0, gained: [] as string[], lost: [] as string[] };

  constructor(seed: number, candidates: ReadonlySet<string>) {
    this.preference = new PreferenceTally(seed, candidates);
  }

  add(part: RescoredPart): void {
    const { rows, now, before, columns } = part;
    this.preference.add(part);
    this.rollouts += rows.length;
    for (const column of columns) this.addTerm(column, part);
    this.total.now.add(now);
    this.total.before.add(before);
    this.total.changed += differing(now, before);
    this.compared.add(now, before);
    this.unrecorded.add(part);
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
      total: {
        ...{ mean: now.value, before: before.value, changed, errors, flips },
        compared: this.compared.means,
        unrecorded: this.unrecorded.found,
      },
      groups: this.groups,
      preference: this.preference.found,
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
    tally.compared.add(now, before);
    tally.asked += column.status.filter((one) => one !== status.none).length;
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
  asked,
  compared,
  criteria,
}: TermTally): RescoredSummary["terms"][string] {
  const changes = criteria.changes;
  return {
    ...{ mean: now.value, before: before.value, errors, changed, asked, compared: compared.means },
    ...(changes && { criteria: changes }),
  };
}
