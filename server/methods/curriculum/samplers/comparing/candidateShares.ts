/**
 * Chances of the next draw, where some candidates are compared and the one nearest to a band is taken: by combinatorics
 * where estimates are compared, by integration where values drawn from Beta posteriors are.
 */
import { randomStream } from "../../../../lib/random.ts";
import type { Clock } from "../../../../core/basics.ts";
import { ranked } from "../../../../lib/ordering.ts";
import type { ArmPool, FastSampler } from "../../../../core/slots/fastArms.ts";
import { betaShares, type Belief, type Draw } from "./betaShares.ts";

/** Values in the band cost nothing, others their distance to it. */
export interface Band {
  readonly low: number;
  readonly high: number;
}

interface Comparing {
  readonly draw: FastSampler["draw"];
  /** Candidates per drawn arm. */
  readonly pool: number;
  readonly band: (clock: Clock) => Band;
  /** Cost of an unknown arm; default: it is not taken. */
  readonly unknown?: number;
  /** Whether values drawn from the posterior are compared, where there is one; default: true. */
  readonly imagined?: boolean;
}

const draws = 1000;

export function candidateShares(
  comparing: Comparing,
): Required<Pick<FastSampler, "probabilities" | "simulated">> {
  const { imagined = true, draw } = comparing;
  let simulated = 0;
  return {
    probabilities: (pool, clock) => {
      const exact =
        imagined && pool.posterior !== undefined
          ? integrated(comparing, pool, clock)
          : counted(comparing, pool, clock);
      simulated = exact === undefined ? draws : 0;
      return exact ?? simulatedShares(draw, pool, clock);
    },
    simulated: () => simulated,
  };
}

const openArms = (pool: ArmPool): number[] =>
  Array.from({ length: pool.size }, (_, arm) => arm).filter((arm) => pool.isOpen(arm));

function drawOf({ pool, band }: Comparing, arms: ArmPool, clock: Clock, open: number): Draw {
  const candidates = Math.ceil(pool);
  return {
    ...band(clock),
    candidates: arms.once ? Math.min(candidates, open) : candidates,
    once: arms.once,
  };
}

/**
 * Arms in the order of their costs: an arm is taken if it is a candidate and none before it is. Arms of equal cost have
 * equal chances.
 */
function counted(comparing: Comparing, pool: ArmPool, clock: Clock): Float64Array {
  const arms = openArms(pool);
  const draw = drawOf(comparing, pool, clock, arms.length);
  const { unknown = Number.NaN } = comparing;
  const costs = Float64Array.from(arms, (arm) => {
    const value = pool.estimate(arm);
    return Number.isNaN(value) ? unknown : Math.max(0, draw.low - value, value - draw.high);
  });
  const order = ranked(costs);
  const noneBefore = chanceOfNone(arms.length, draw);
  const found = new Float64Array(pool.size);
  for (let from = 0; from < order.length;) {
    const cost = costs[order[from]!]!;
    let to = from;
    while (to < order.length && costs[order[to]!] === cost) to++;
    if (to === from) break;
    const each = (noneBefore[from]! - noneBefore[to]!) / (to - from);
    for (let at = from; at < to; at++) found[arms[order[at]!]!] = each;
    from = to;
  }
  return found;
}

/** By k: the chance that no candidate is one of k arms. */
function chanceOfNone(arms: number, { candidates, once }: Draw): Float64Array {
  const none = new Float64Array(arms + 1);
  none[0] = 1;
  for (let k = 1; k <= arms; k++)
    none[k] = once
      ? (none[k - 1]! * Math.max(0, arms - k + 1 - candidates)) / (arms - k + 1)
      : (1 - k / arms) ** candidates;
  return none;
}

/** undefined: the posteriors are not Beta distributions, or too many. */
function integrated(comparing: Comparing, pool: ArmPool, clock: Clock): Float64Array | undefined {
  const { posterior } = pool;
  if (posterior?.shapes === undefined) return undefined;
  const equal = new Map<string, { readonly belief: Belief; readonly members: number[] }>();
  const arms = openArms(pool);
  const found = new Float64Array(pool.size);
  if (arms.length === 0) return found;
  for (const arm of arms) {
    const [a, b] = posterior.shapes(arm);
    const key = `${a} ${b}`;
    const others = equal.get(key);
    if (others === undefined) equal.set(key, { belief: { a, b, arms: 0 }, members: [arm] });
    else others.members.push(arm);
  }
  const groups = [...equal.values()];
  const each = betaShares(
    groups.map(({ belief, members }) => ({ ...belief, arms: members.length })),
    drawOf(comparing, pool, clock, arms.length),
  );
  if (each === undefined) return undefined;
  groups.forEach(({ members }, of) => {
    for (const arm of members) found[arm] = each[of]!;
  });
  return found;
}

/** Counts a thousand draws of one arm. */
function simulatedShares(draw: FastSampler["draw"], pool: ArmPool, clock: Clock): Float64Array {
  const shares = new Float64Array(pool.size);
  for (let i = 0; i < draws; i++)
    for (const arm of draw(pool, 1, randomStream("shares", clock.step, i), clock, []))
      shares[arm]! += 1 / draws;
  return shares;
}
