/**
 * What terms of `reward.gold` say of held-out answers that the trained reward likes ever better. A proxy that is optimised too far
 * rises on while what it stands for falls. Source: Gao et al., "Scaling Laws for Reward Model Overoptimization".
 */
import type { EvaluationRow } from "../../../shared/protocol/protocol.ts";
import { goldDifferences } from "../evaluation/taskResults.ts";
import { pairedInterval, zOf } from "./heldOut.ts";

/** At two evaluations. */
interface Change {
  readonly before: number;
  readonly after: number;
}

/** A gold term that has fallen beyond chance since its best evaluation, while the reward of the same answers rose. */
export interface GoldFall {
  readonly term: string;
  /** Of its best evaluation. */
  readonly step: number;
  readonly gold: Change;
  readonly reward: Change;
}

/** Chance that a run's gold terms are said to fall at any of its evaluations when none does. */
const chance = 0.05;
const rewardName = "eval/reward/total";

/**
 * @param evaluations up to now @param terms of `reward.gold`
 * @returns the one that fell most, null: none fell
 */
export function goldFall(evaluations: readonly EvaluationRow[], terms: readonly string[]): GoldFall | null {
  const found = terms.flatMap((term) => fallOf(evaluations, term, chance / terms.length) ?? []);
  const depth = ({ gold }: GoldFall): number => gold.after - gold.before;
  return found.sort((one, other) => depth(one) - depth(other))[0] ?? null;
}

function fallOf(evaluations: readonly EvaluationRow[], term: string, share: number): GoldFall | null {
  const name = `eval/reward/${term}`;
  const known = evaluations.filter(({ metrics }) => Number.isFinite(metrics[name]));
  const [now, ...earlier] = known.toReversed();
  if (now === undefined || earlier.length === 0) return null;
  const best = earlier.reduce((one, other) => (other.metrics[name]! > one.metrics[name]! ? other : one));
  const gold = { before: best.metrics[name]!, after: now.metrics[name]! };
  const reward = { before: best.metrics[rewardName] ?? NaN, after: now.metrics[rewardName] ?? NaN };
  if (!(reward.after > reward.before) || !isBelow(best, now, term, share, earlier.length)) return null;
  return { term, step: best.step, gold, reward };
}

/**
 * Whether the interval of the mean change is below 0. The k-th look has 1/(k(k + 1)) of the chance, as that of pass@1, and the best of
 * k evaluations is k looks.
 */
function isBelow(
  best: EvaluationRow,
  now: EvaluationRow,
  term: string,
  share: number,
  look: number,
): boolean {
  if (best.results === undefined || now.results === undefined) return false;
  const { differences, range } = goldDifferences(best.results, now.results, term);
  if (differences.length < 2 || range === 0) return false;
  const z = zOf(look, share / look);
  // A gold term has a scale of its own.
  return (
    pairedInterval(
      differences.map((one) => one / range),
      z,
    ).high < 0
  );
}
