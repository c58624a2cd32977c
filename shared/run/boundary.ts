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

/** @returns undefined where the models share no task with all samples, or have only one sample a task */
export function boundary(own: TaskResults, other: TaskResults): Boundary | undefined {
  const samples = Math.min(Math.max(0, ...own.samples), Math.max(0, ...other.samples));
  const pairs = sameTasks(own, other).filter(
    ({ first, second }) => own.samples[first]! >= samples && other.samples[second]! >= samples,
  );
  if (pairs.length === 0 || samples < 2) return undefined;
  const passes = (results: TaskResults, place: "first" | "second", k: number): number =>
    mean(pairs.map((pair) => passAtK(results.samples[pair[place]]!, results.right[pair[place]]!, k)));
  const all = Array.from({ length: samples }, (_, i) => ({
    k: i + 1,
    own: passes(own, "first", i + 1),
    other: passes(other, "second", i + 1),
  }));
  const lead = all[0]!.own - all[0]!.other;
  const last = all.at(-1)!;
  return {
    tasks: pairs.length,
    samples,
    curve: all.filter(({ k }) => k === samples || Number.isInteger(Math.log2(k))),
    crossing: all.find((one) => Math.sign(lead) * (one.own - one.other) < -noLead)?.k ?? null,
    sampling_gap: lead >= 0 ? last.other - all[0]!.own : last.own - all[0]!.other,
    support: supportOf(
      pairs.map(({ first, second }) => ({
        id: own.tasks[first]!,
        own: own.right[first]! > 0,
        other: other.right[second]! > 0,
      })),
    ),
  };
}

interface Solved {
  readonly id: string;
  readonly own: boolean;
  readonly other: boolean;
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
