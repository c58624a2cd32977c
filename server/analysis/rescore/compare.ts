/** What differs between two rewards of the same rollouts: means, ranks within groups, signs of advantages, groups that teach. */
import {
  mostChanged,
  type BeforeNow,
  type ChangedRollout,
  type RewardChange,
} from "../../../shared/rollouts/rescore.ts";
import { toWire, type MaybeNumber, type RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import { rowValue } from "../../algorithm/rewards/rewards.ts";
import { status, type RewardColumn } from "../../core/reward.ts";

/** A step's rollouts under one reward. NaN: none, or a term failed. */
export interface StepScores {
  readonly columns: readonly RewardColumn[];
  readonly totals: Float64Array;
  readonly advantages: Float64Array;
}
export interface Compared {
  readonly rows: readonly RolloutRow[];
  /** Row → group number. */
  readonly group: Int32Array;
  readonly groups: number;
  readonly before: StepScores;
  readonly now: StepScores;
}

interface Sums {
  before: number;
  befores: number;
  now: number;
  nows: number;
  /** Of the rollouts that have a value both times. */
  readonly both: { rollouts: number; before: number; now: number };
}
interface TermSums extends Sums {
  changed: number;
  errors: number;
}

const noSums = (): Sums => ({
  ...{ before: 0, befores: 0, now: 0, nows: 0 },
  both: { rollouts: 0, before: 0, now: 0 },
});

/**
 * Over the rollouts that have a value both times: those that fail now would else seem to raise the mean. Where none has,
 * each mean for itself.
 */
const means = ({ before, befores, now, nows, both }: Sums): BeforeNow =>
  both.rollouts === 0
    ? { before: wire(before / befores), now: wire(now / nows) }
    : { before: wire(both.before / both.rollouts), now: wire(both.now / both.rollouts) };

const wire = (value: number): MaybeNumber => (Number.isNaN(value) ? null : toWire(value));
/** Below this an advantage is 0 but for rounding. */
const nothing = 1e-9;
const opposite = (one: number, other: number): boolean =>
  one * other < 0 && Math.abs(one) > nothing && Math.abs(other) > nothing;

/** Adds up over steps. */
export class ComparisonTally {
  private rollouts = 0;
  private groups = 0;
  private readonly sums = noSums();
  private failed = 0;
  private readonly counts = { rankFlips: 0, pairs: 0, signFlips: 0, signed: 0, gained: 0, lost: 0 };
  private readonly terms = new Map<string, TermSums>();
  private most: { readonly size: number; readonly second: number; readonly rollout: ChangedRollout }[] = [];

  add(step: Compared): void {
    const { rows, before, now } = step;
    this.rollouts += rows.length;
    this.groups += step.groups;
    rows.forEach((_, row) => {
      this.sum(this.sums, before.totals[row]!, now.totals[row]!);
      if (now.columns.some((column) => column.status[row] === status.error)) this.failed += 1;
      const [was, is] = [before.advantages[row]!, now.advantages[row]!];
      if (Number.isNaN(was) || Number.isNaN(is)) return;
      this.counts.signed += 1;
      if (opposite(was, is)) this.counts.signFlips += 1;
    });
    for (const members of membersOf(step)) this.addGroup(members, before.totals, now.totals);
    this.addTerms(step);
    this.addMost(step);
  }

  get change(): RewardChange {
    return {
      rollouts: this.rollouts,
      groups: this.groups,
      mean: means(this.sums),
      ...(this.failed > 0 && { failed: this.failed }),
      ...this.counts,
      terms: [...this.terms].map(([term, sums]) => ({
        term,
        ...means(sums),
        changed: sums.changed,
        errors: sums.errors,
      })),
    };
  }

  get changedMost(): readonly ChangedRollout[] {
    return this.most.map(({ rollout }) => rollout);
  }

  private sum(sums: Sums, before: number, now: number): void {
    if (!Number.isNaN(before)) [sums.before, sums.befores] = [sums.before + before, sums.befores + 1];
    if (!Number.isNaN(now)) [sums.now, sums.nows] = [sums.now + now, sums.nows + 1];
    if (Number.isNaN(before) || Number.isNaN(now)) return;
    sums.both.rollouts += 1;
    sums.both.before += before;
    sums.both.now += now;
  }

  private addGroup(members: readonly number[], before: Float64Array, now: Float64Array): void {
    const [did, does] = [varies(members, before), varies(members, now)];
    if (does && !did) this.counts.gained += 1;
    if (did && !does) this.counts.lost += 1;
    for (let i = 0; i < members.length; i++)
      for (let j = 0; j < i; j++) {
        const [one, other] = [members[i]!, members[j]!];
        const [was, is] = [before[one]! - before[other]!, now[one]! - now[other]!];
        if (Number.isNaN(was) || Number.isNaN(is)) continue;
        this.counts.pairs += 1;
        if (opposite(was, is)) this.counts.rankFlips += 1;
      }
  }

  private addTerms({ rows, before, now }: Compared): void {
    const names = new Set([...before.columns, ...now.columns].map(({ name }) => name));
    for (const name of names) {
      const sums = this.terms.get(name) ?? { ...noSums(), changed: 0, errors: 0 };
      this.terms.set(name, sums);
      const [old, fresh] = [named(before, name), named(now, name)];
      rows.forEach((_, row) => {
        const [was, is] = [valueOf(old, row), valueOf(fresh, row)];
        this.sum(sums, was, is);
        if (!Object.is(was, is)) sums.changed += 1;
        if (fresh?.status[row] === status.error) sums.errors += 1;
      });
    }
  }

  private addMost(step: Compared): void {
    const changed = [...step.rows.keys()].flatMap((row) => {
      const { size, second } = changeOf(step, row);
      return size > 0 || second > 0 ? [{ size, second, row }] : [];
    });
    const best = changed.sort(larger).slice(0, mostChanged);
    this.most = [...this.most, ...best.map((each) => ({ ...each, rollout: rolloutOf(step, each.row) }))]
      .sort(larger)
      .slice(0, mostChanged);
  }
}

const larger = (
  one: { readonly size: number; readonly second: number },
  other: { readonly size: number; readonly second: number },
): number => other.size - one.size || other.second - one.second;

/** An advantage that exists on one side only has changed by all of it. */
const gap = (before: number, now: number): number =>
  Object.is(before, now) ? 0 : Math.abs((Number.isNaN(now) ? 0 : now) - (Number.isNaN(before) ? 0 : before));

/** By advantage, then by reward. What rounding alone has moved has not changed. */
function changeOf(
  { before, now }: Compared,
  row: number,
): { readonly size: number; readonly second: number } {
  const real = (size: number): number => (size < nothing ? 0 : size);
  return {
    size: real(gap(before.advantages[row]!, now.advantages[row]!)),
    second: real(gap(before.totals[row]!, now.totals[row]!)),
  };
}

function rolloutOf({ rows, before, now }: Compared, row: number): ChangedRollout {
  const { step, group, index, task, prompt = "", response = "" } = rows[row]!;
  const names = [...new Set([...before.columns, ...now.columns].map(({ name }) => name))];
  return {
    step,
    group: String(group),
    index,
    arm: task?.arm ?? "",
    prompt,
    response,
    reward: { before: wire(before.totals[row]!), now: wire(now.totals[row]!) },
    advantage: { before: wire(before.advantages[row]!), now: wire(now.advantages[row]!) },
    terms: names.map((term) => ({
      term,
      before: wire(valueOf(named(before, term), row)),
      now: wire(valueOf(named(now, term), row)),
    })),
    errors: Object.fromEntries(
      now.columns.flatMap(({ name, errors }) => (errors.has(row) ? [[name, errors.get(row)!]] : [])),
    ),
  };
}

const named = ({ columns }: StepScores, name: string): RewardColumn | undefined =>
  columns.find((column) => column.name === name);
const valueOf = (column: RewardColumn | undefined, row: number): number =>
  column === undefined ? Number.NaN : rowValue(column, row);

export function membersOf({ group, groups }: Pick<Compared, "group" | "groups">): number[][] {
  const members: number[][] = Array.from({ length: groups }, () => []);
  group.forEach((number, row) => members[number]!.push(row));
  return members;
}

function varies(members: readonly number[], values: Float64Array): boolean {
  const known = members.map((row) => values[row]!).filter((value) => !Number.isNaN(value));
  return known.some((value) => value !== known[0]);
}
