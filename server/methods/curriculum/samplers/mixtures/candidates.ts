/** Arms that are compared before some of them are drawn. */
import type { Random } from "../../../../lib/random.ts";
import { smallest } from "../../../../lib/ordering.ts";
import type { Known } from "../../../../core/slots/curriculum.ts";

/**
 * `count` open arms, each alike likely: all different where an arm is drawn at most once a step (then fewer where
 * fewer are open), else with repeats, as prompts of a shuffled set have the same category.
 */
export function someOpen({ size, open, once, only }: Known, count: number, random: Random): number[] {
  const found: number[] = [];
  const had = new Set<number>();
  // Where few may be drawn at all, most that are tried would be none of them.
  const tries = only === undefined ? 16 * count + 64 : 0;
  for (let i = 0; i < tries && found.length < count && size > 0; i++) {
    const arm = random.integer(size);
    if (!open(arm) || (once && had.has(arm))) continue;
    had.add(arm);
    found.push(arm);
  }
  return found.length === count ? found : [...found, ...theRest()];

  /** Few are open: they are listed, and drawn from the list. */
  function theRest(): number[] {
    const left: number[] = [];
    const add = (arm: number): void => {
      if (open(arm) && !(once && had.has(arm))) left.push(arm);
    };
    if (only === undefined) for (let arm = 0; arm < size; arm++) add(arm);
    else only.forEach(add);
    const missing = count - found.length;
    if (!once)
      return left.length === 0
        ? []
        : Array.from({ length: missing }, () => left[random.integer(left.length)]!);
    const n = Math.min(missing, left.length);
    for (let i = 0; i < n; i++) {
      const j = i + random.integer(left.length - i);
      [left[i], left[j]] = [left[j]!, left[i]!];
    }
    return left.slice(0, n);
  }
}

/** The `n` candidates of least cost, in that order; equal ones as they stand. */
export const cheapest = (candidates: readonly number[], cost: Float64Array, n: number): number[] =>
  smallest(candidates.length, n, (at) => cost[at]!).map((at) => candidates[at]!);
