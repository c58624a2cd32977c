/** What a better model is better at: what the other could do already, or what it never could. */
import type { Random } from "../../lib/random.ts";
import { bootstrapMean, type Interval } from "./bootstrap.ts";
import type { EvaluatedTask } from "./types.ts";
import { passAtK } from "../../../shared/run/passAtK.ts";

export interface Gain extends Interval {
  readonly value: number;
}
export interface Gains {
  /** Samples within which the other model must succeed for a task to count as one that it could do. */
  readonly k: number;
  /** Tasks of which both models have k scored samples. */
  readonly tasks: number;
  /** Of pass@1; the sum of the other two. */
  readonly total: Gain;
  /** On what the other solves within k samples: pass@k has become pass@1. */
  readonly self_distillation: Gain;
  /** On what the other does not solve within k samples. */
  readonly capability: Gain;
  /** Tasks with no success of the other's samples and one of the first's, and the other way round. */
  readonly gained: number;
  readonly lost: number;
}

const successes = ({ samples }: EvaluatedTask): number => samples.filter(Boolean).length;

function gain(values: readonly number[], random: Random): Gain {
  const value = values.reduce((sum, one) => sum + one, 0) / values.length;
  return { value, ...(bootstrapMean(values, random) ?? { low: Number.NaN, high: Number.NaN }) };
}

/**
 * The gain in pass@1, Δ = p − p₀ of each task, split by the chance s₀ (pass@k) that the other model solves the task within
 * k samples: mean s₀ Δ + mean (1 − s₀) Δ. With as many samples as k, s₀ is whether it solved it at all.
 * Source: Adaptive Guidance Accelerates Reinforcement Learning of Reasoning Models.
 * @param first tasks as in `second`, in the same order
 * @returns undefined where no task has k samples of both
 */
export function gains(
  first: readonly EvaluatedTask[],
  second: readonly EvaluatedTask[],
  k: number,
  random: Random,
): Gains | undefined {
  const pairs = first.flatMap((own, task) => {
    const other = second[task];
    return other === undefined || Math.min(own.samples.length, other.samples.length) < k
      ? []
      : [{ own, other }];
  });
  if (pairs.length === 0) return undefined;
  const parts = pairs.map(({ own, other }) => {
    const [n, c] = [other.samples.length, successes(other)];
    const delta = successes(own) / own.samples.length - c / n;
    const solvable = passAtK(n, c, k);
    return { delta, known: solvable * delta, fresh: (1 - solvable) * delta };
  });
  const flips = (from: "own" | "other", to: "own" | "other"): number =>
    pairs.filter((pair) => successes(pair[from]) === 0 && successes(pair[to]) > 0).length;
  const of = (name: keyof (typeof parts)[number]): Gain =>
    gain(
      parts.map((part) => part[name]),
      random.fork("gain", name),
    );
  return {
    k,
    tasks: pairs.length,
    total: of("delta"),
    self_distillation: of("known"),
    capability: of("fresh"),
    gained: flips("other", "own"),
    lost: flips("own", "other"),
  };
}
