/** How many seeds a claim needs, by the spread of a pilot whose seeds are never used again. */
import { standardError } from "../../server/analysis/simulate/statistics.ts";
import { barOf, type Claim } from "./claim.ts";
import { latest, pilots, type Result } from "./result.ts";
import { studentT } from "./statistics.ts";

/** Seeds of pilots: no claim gets as far. */
export const pilotSeeds: readonly number[] = [1001, 1002, 1003, 1004, 1005];
/** The first seed of a claim with a pilot: no run of these seeds was there when it was written. */
const firstSeed = 101;

/** Seeds that count for a claim, in their order. */
export const seedsOf = ({ looks }: Claim, count: number): number[] =>
  Array.from({ length: count }, (_, i) => i + (looks === "of the pilot" ? firstSeed : 1));
export const counts = ({ looks }: Claim, seed: number): boolean =>
  looks === "of the pilot" ? seed >= firstSeed && seed < pilotSeeds[0]! : seed < firstSeed;

/** What one claim may cost, both of its sides, in hours of one processor. */
export const hoursOfClaim = 8;
const fewest = 5;

/**
 * Hours of a processor that runs of one side took: each as long as the quickest, since what the others took longer they
 * waited for a processor.
 */
export function hoursOf(runs: readonly Result[]): number {
  const quickest = runs.reduce((least, { seconds }) => Math.min(least, seconds), Infinity);
  return runs.length === 0 ? 0 : (runs.length * quickest) / 3600;
}

export interface Plan {
  readonly seeds: number;
  /** What the interval of the widest effect would need. */
  readonly wanted: number;
}

/** The fewest seeds at which a t interval of 95 % is no wider than ± the margin, if they spread as the pilot does. */
export function seedsFor(deviation: number, margin: number): number {
  const half = (n: number): number => (studentT(0.95, n - 1) * deviation) / Math.sqrt(n);
  // A normal interval is narrower: begin where even that is wide enough.
  let n = Math.max(fewest, Math.ceil((1.959 * (deviation / margin)) ** 2));
  while (half(n) > margin) n++;
  return n;
}

/** @returns undefined: the pilot has not ended yet */
export function planOf({ own, other, real }: Claim, all: readonly Result[]): Plan | undefined {
  const made = latest(pilots(all)).filter(({ kind }) => kind === "real");
  const pairs = pilotSeeds.map((seed) =>
    [own, other].map(({ name }) => made.find((one) => one.side === name && one.seed === seed)),
  );
  const wanted: number[] = [];
  for (const asked of real) {
    const bar = barOf(asked);
    const effects = pairs.map(([ours, theirs]) => (ours && theirs ? asked.effect(ours, theirs) : undefined));
    if (effects.includes(undefined)) return undefined;
    const known = effects.filter((effect) => Number.isFinite(effect)) as number[];
    if (bar === undefined) continue;
    wanted.push(
      known.length < 2 ? Infinity : seedsFor(standardError(known) * Math.sqrt(known.length), bar.margin),
    );
  }
  const hours = [0, 1].reduce((sum, of) => sum + hoursOf(pairs.flatMap((pair) => pair[of] ?? [])), 0);
  const affordable = Math.floor(hoursOfClaim / (hours / pilotSeeds.length));
  const most = Math.max(fewest, ...wanted);
  return { wanted: most, seeds: Math.max(fewest, Math.min(most, affordable)) };
}

/** At how many seeds a claim is decided; none: its pilot has not ended yet. */
export function looksOf(claim: Claim, all: readonly Result[]): readonly number[] {
  if (claim.looks !== "of the pilot") return claim.looks;
  const plan = planOf(claim, all);
  return plan === undefined ? [] : [plan.seeds];
}
