/** Which run comes next: a function of the lines that are there, so that a queue that was killed goes on where it was. */
import type { Claim } from "./claim.ts";
import { counts, hoursOf, hoursOfClaim, looksOf, pilotSeeds, seedsOf } from "./plan.ts";
import type { Result } from "./result.ts";

export interface Job {
  readonly side: string;
  readonly seed: number;
  readonly pilot: boolean;
}

export interface Order {
  /** Of the present settings of a side: other lines do not count. */
  readonly fingerprintOf: (side: string) => string;
  /** Fewer seeds than each claim is decided at. */
  readonly seeds?: number | undefined;
  /** What a claim may cost; default: that of its plan. */
  readonly hours?: number | undefined;
  /** Jobs that are not to be done. */
  readonly without?: (job: Job) => boolean;
}

const namesOf = ({ own, other }: Claim): readonly string[] => [own.name, other.name];

/**
 * Pilots first; then the claims that need the fewest seeds, each seed by seed, so that whenever it is stopped most of them
 * are decided, and the sides of the one at hand have equally many. @returns undefined: all is there, or has cost what it may
 */
export function nextJob(claims: readonly Claim[], all: readonly Result[], order: Order): Job | undefined {
  const real = all.filter(
    ({ kind, side, fingerprint }) => kind === "real" && fingerprint === order.fingerprintOf(side),
  );
  const missing = (job: Job): boolean =>
    order.without?.(job) !== true &&
    !real.some((one) => one.side === job.side && one.seed === job.seed && (one.pilot === true) === job.pilot);
  const cost = (claim: Claim): number =>
    namesOf(claim).reduce(
      (sum, name) => sum + hoursOf(real.filter((one) => one.side === name && counts(claim, one.seed))),
      0,
    );
  const jobs = (claim: Claim, seeds: readonly number[], pilot: boolean): Job[] =>
    seeds.flatMap((seed) => namesOf(claim).map((side) => ({ side, seed, pilot })));
  for (const claim of claims) {
    if (claim.looks !== "of the pilot") continue;
    const found = jobs(claim, pilotSeeds, true).find(missing);
    if (found !== undefined) return found;
  }
  const counted = claims
    .filter((claim) => cost(claim) <= (order.hours ?? hoursOfClaim))
    .map((claim) => ({ claim, count: order.seeds ?? Math.max(0, ...looksOf(claim, all)) }))
    .sort((a, b) => a.count - b.count);
  for (const { claim, count } of counted) {
    const found = jobs(claim, seedsOf(claim, count), false).find(missing);
    if (found !== undefined) return found;
  }
  return undefined;
}
