/** Whether a reward ranks recorded successes above recorded failures. Pure. */
import { quantile } from "../../../shared/lib/quantile.ts";
import type { Random } from "../../lib/random.ts";
import type { Interval } from "../evaluation/bootstrap.ts";
import { accuracyOf, rankedPairs, type RankedPairs } from "../evaluation/rankedPairs.ts";

/** A rollout with what a reward gives it. */
export interface Outcome {
  readonly value: number;
  readonly success: boolean;
  /** Number of its group, from 0. */
  readonly group: number;
}

export interface Accuracy {
  readonly pairs: number;
  /** Pairs that are ranked right, ties half: 0.5 is chance. */
  readonly accuracy: number;
  readonly tied: number;
  /** 95 %, by drawing groups again; null of fewer than five. */
  readonly interval: Interval | null;
}

export interface Preference {
  /** Pairs of one group, which are answers to the same task: what a group's advantages see. */
  readonly within: Accuracy | null;
  /** Pairs of any two rollouts. */
  readonly all: Accuracy | null;
  /** Share of the successes above every failure: CARD's released check, which asks for 0.8. */
  readonly above_failures: number | null;
}

const [draws, fewestGroups] = [1000, 5];
/** Rows that all draws look at: of many rollouts fewer draws do, for the interval is narrow. */
const work = 5e7;

/** Sums of the same numbers in another order are equal. */
const rounded = (value: number): number => Number(value.toPrecision(12));

/** Outcomes as columns, ascending by value. */
interface Sorted {
  readonly values: Float64Array;
  readonly success: Uint8Array;
  readonly group: Int32Array;
}

/** How often each group counts. */
type Counts = ArrayLike<number>;

/** Groups that there are, and their pairs where each counts so often. */
interface Grouped {
  readonly groups: number;
  readonly rows: number;
  readonly pairs: (counts: Counts) => RankedPairs;
}

/** @param outcomes without those whose reward or success is unknown */
export function preferenceOf(outcomes: readonly Outcome[], random: Random): Preference {
  const members = membersOf(outcomes);
  const mixed = members.map((own) => pairsOf(sortedOf(own))).filter(({ pairs }) => pairs > 0);
  const all = sortedOf(members.flat());
  const rows = outcomes.length;
  const within = { groups: mixed.length, rows, pairs: (counts: Counts) => summed(mixed, counts) };
  const any = { groups: members.length, rows, pairs: (counts: Counts) => pairsOf(all, counts) };
  return {
    within: accuracy(within, random),
    all: accuracy(any, random),
    above_failures: aboveFailures(all),
  };
}

/** By group, numbered from 0 in each. */
function membersOf(outcomes: readonly Outcome[]): Outcome[][] {
  const members = new Map<number, Outcome[]>();
  for (const one of outcomes) {
    const known = members.get(one.group);
    if (known === undefined) members.set(one.group, [one]);
    else known.push(one);
  }
  return [...members.values()].map((own, group) => own.map((one) => ({ ...one, group })));
}

function sortedOf(outcomes: readonly Outcome[]): Sorted {
  const sorted = outcomes
    .map((one) => ({ ...one, value: rounded(one.value) }))
    .sort((a, b) => a.value - b.value);
  return {
    values: Float64Array.from(sorted, ({ value }) => value),
    success: Uint8Array.from(sorted, ({ success }) => (success ? 1 : 0)),
    group: Int32Array.from(sorted, ({ group }) => group),
  };
}

/** @param counts without: once each */
function pairsOf({ values, success, group }: Sorted, counts?: Counts): RankedPairs {
  const times = Float64Array.from(group, (own) => counts?.[own] ?? 1);
  return rankedPairs(
    values,
    times.map((count, row) => count * success[row]!),
    times.map((count, row) => count * (1 - success[row]!)),
  );
}

function summed(groups: readonly RankedPairs[], counts: Counts): RankedPairs {
  const sum = { pairs: 0, right: 0, tied: 0 };
  groups.forEach((own, at) => {
    sum.pairs += counts[at]! * own.pairs;
    sum.right += counts[at]! * own.right;
    sum.tied += counts[at]! * own.tied;
  });
  return sum;
}

function accuracy(grouped: Grouped, random: Random): Accuracy | null {
  const found = grouped.pairs(new Int32Array(grouped.groups).fill(1));
  const share = accuracyOf(found);
  if (share === null) return null;
  const interval = grouped.groups < fewestGroups ? null : intervalOf(grouped, random);
  return { pairs: found.pairs, accuracy: share, tied: found.tied / found.pairs, interval };
}

function intervalOf({ groups, rows, pairs }: Grouped, random: Random): Interval | null {
  const found: number[] = [];
  const times = Math.min(draws, Math.max(100, Math.floor(work / rows)));
  for (let draw = 0; draw < times; draw++) {
    const counts = new Int32Array(groups);
    for (let i = 0; i < groups; i++) counts[random.integer(groups)]! += 1;
    const share = accuracyOf(pairs(counts));
    if (share !== null) found.push(share);
  }
  if (found.length === 0) return null;
  const sorted = Float64Array.from(found).sort();
  return { low: quantile(sorted, 0.025), high: quantile(sorted, 0.975) };
}

function aboveFailures({ values, success }: Sorted): number | null {
  const last = success.lastIndexOf(0);
  const successes = success.filter((won) => won === 1).length;
  if (last < 0 || successes === 0) return null;
  return values.filter((value, row) => success[row] === 1 && value > values[last]!).length / successes;
}
