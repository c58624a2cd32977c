/** Two models at the boundary of what they can do, by what each solved of the same tasks. Pure. */
import { mean } from "../lib/mean.ts";
import { passAtK } from "./passAtK.ts";
import { sameTasks, type TaskResults } from "./taskResults.ts";

export interface Boundary {
  /** Tasks of which both models have all samples; the others are left out. */
  readonly tasks: number;
  readonly samples: number;
  /** Mean pass@k over the tasks, at k = 1, 2, 4, … and `samples`. */
  readonly curve: readonly { readonly k: number; readonly own: number; readonly other: number }[];
  /** The least k at which the model that solves less at k = 1 solves more; null: not within `samples`. */
  readonly crossing: number | null;
  /** Of the model that leads at k = 1, how far its pass@1 is from the other's pass@`samples`: ΔSE of Limit-of-RLVR. */
  readonly sampling_gap: number;
  readonly support: Support;
}

/** Tasks by who solves them within all samples (The Invisible Leash, by problems). */
export interface Support {
  /** Both. */
  readonly preserved: readonly string[];
  /** The own model alone. */
  readonly expanded: readonly string[];
  /** The other alone. */
  readonly shrunk: readonly string[];
  /** Neither. */
  readonly unsolved: readonly string[];
  /** Support retention rate P/(P + S); null: the other solves none. */
  readonly srr: number | null;
  /** Net discovery rate E/(P + E); null: the own model solves none. */
  readonly ndr: number | null;
  /** Harmonic mean of the two; null where one of them is, or both are 0. */
  readonly sds: number | null;
  /** Net support change rate (E − S)/(P + E + S); null: nobody solves any. */
  readonly nscr: number | null;
}

/** Means are of many terms: a lead below it is none. */
const noLead = 1e-12;

/** A task, and who solves it within all samples. */
interface Solved {
  readonly id: string;
  readonly own: boolean;
  readonly other: boolean;
}

/** pass@k of the tasks of which both models have all samples. */
export interface PassTable {
  readonly samples: number;
  readonly tasks: readonly Solved[];
  /** Of each task pass@1, pass@2, … and pass@`samples`. */
  readonly own: readonly (readonly number[])[];
  readonly other: readonly (readonly number[])[];
}

/** @returns undefined where the models share no task with all samples, or have only one sample a task */
export function passTable(own: TaskResults, other: TaskResults): PassTable | undefined {
  const samples = Math.min(Math.max(0, ...own.samples), Math.max(0, ...other.samples));
  const pairs = sameTasks(own, other).filter(
    ({ first, second }) => own.samples[first]! >= samples && other.samples[second]! >= samples,
  );
  if (pairs.length === 0 || samples < 2) return undefined;
  const passes = (results: TaskResults, place: number): readonly number[] =>
    Array.from({ length: samples }, (_, i) => passAtK(results.samples[place]!, results.right[place]!, i + 1));
  return {
    samples,
    tasks: pairs.map(({ first, second }) => ({
      id: own.tasks[first]!,
      own: own.right[first]! > 0,
      other: other.right[second]! > 0,
    })),
    own: pairs.map(({ first }) => passes(own, first)),
    other: pairs.map(({ second }) => passes(other, second)),
  };
}

/** The least k at which the model that solves less at k = 1 solves more. @param tasks that count, by their places in the table */
export function crossingOf(table: PassTable, tasks: readonly number[]): number | null {
  const lead = (k: number): number =>
    mean(tasks.map((task) => table.own[task]![k - 1]! - table.other[task]![k - 1]!));
  const first = Math.sign(lead(1));
  for (let k = 2; k <= table.samples; k++) if (first * lead(k) < -noLead) return k;
  return null;
}

export function boundary(table: PassTable): Boundary {
  const { samples, tasks } = table;
  const at = (of: readonly (readonly number[])[], k: number): number => mean(of.map((task) => task[k - 1]!));
  const point = (k: number) => ({ k, own: at(table.own, k), other: at(table.other, k) });
  const [first, last] = [point(1), point(samples)];
  const ks = Array.from({ length: samples }, (_, i) => i + 1);
  return {
    tasks: tasks.length,
    samples,
    curve: ks.filter((k) => k === samples || Number.isInteger(Math.log2(k))).map(point),
    crossing: crossingOf(table, [...tasks.keys()]),
    sampling_gap: first.own >= first.other ? last.other - first.own : last.own - first.other,
    support: supportOf(tasks),
  };
}

function supportOf(tasks: readonly Solved[]): Support {
  const of = (own: boolean, other: boolean): readonly string[] =>
    tasks.filter((one) => one.own === own && one.other === other).map(({ id }) => id);
  const [preserved, expanded, shrunk] = [of(true, true), of(true, false), of(false, true)];
  const [p, e, s] = [preserved.length, expanded.length, shrunk.length];
  const srr = share(p, p + s);
  const ndr = share(e, p + e);
  return {
    preserved,
    expanded,
    shrunk,
    unsolved: of(false, false),
    srr,
    ndr,
    sds: srr === null || ndr === null || srr + ndr === 0 ? null : (2 * srr * ndr) / (srr + ndr),
    nscr: share(e - s, p + e + s),
  };
}

const share = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole);
