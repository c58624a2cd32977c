/** Arms that are compared, so that some of them are drawn. */
import type { Random } from "../../../../lib/random.ts";
import { smallest } from "../../../../lib/ordering.ts";
import type { ArmPool } from "../../../../core/slots/fastArms.ts";

/**
 * `count` open arms, drawn uniformly. Where arms come at most once a step they are all different, and fewer where fewer
 * are open; else they may repeat.
 */
export function someOpen(pool: ArmPool, count: number, random: Random): number[] {
  const { size, once, only } = pool;
  const found: number[] = [];
  const had = new Set<number>();
  // Where only a few may be drawn, most attempts would miss them.
  const attempts = only === undefined ? 16 * count + 64 : 0;
  for (let i = 0; i < attempts && found.length < count && size > 0; i++) {
    const arm = random.integer(size);
    if (!pool.isOpen(arm) || (once && had.has(arm))) continue;
    had.add(arm);
    found.push(arm);
  }
  return found.length === count ? found : [...found, ...theRest()];

  /** Draws from a list of the open arms, since they are few. */
  function theRest(): number[] {
    const left: number[] = [];
    const add = (arm: number): void => {
      if (pool.isOpen(arm) && !(once && had.has(arm))) left.push(arm);
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

/** The `n` candidates of least cost, in that order, ties in the order of the candidates. */
export const cheapest = (candidates: readonly number[], cost: Float64Array, n: number): number[] =>
  smallest(candidates.length, n, (at) => cost[at]!).map((at) => candidates[at]!);
