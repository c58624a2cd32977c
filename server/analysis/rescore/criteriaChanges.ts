/** How the verdicts on each criterion of a term have changed. */
import { meanOrNull } from "../../../shared/lib/mean.ts";
import { criterionName, type JudgedCriterion, type Met } from "../../../shared/rollouts/criteria.ts";
import type { RewardColumn } from "../../core/reward.ts";

export interface CriterionChange {
  /** Mean of how far it is met, over the rollouts of which that is known; null: of none. */
  readonly met: number | null;
  readonly before: number | null;
  /** Rollouts that meet it now and did not before, and the other way round. */
  readonly gained: number;
  readonly lost: number;
}

interface CriterionTally {
  readonly now: number[];
  readonly before: number[];
  gained: number;
  lost: number;
}

const metBy = (list: readonly JudgedCriterion[] | undefined, name: string): Met =>
  list?.find((one) => criterionName(one) === name)?.met ?? null;

export class CriteriaTally {
  private readonly tallies = new Map<string, CriterionTally>();

  /** A term's columns over the same rollouts. */
  add(now: RewardColumn | undefined, before: RewardColumn | undefined): void {
    const rows = new Set([...(now?.criteria?.keys() ?? []), ...(before?.criteria?.keys() ?? [])]);
    for (const row of rows) {
      const [fresh, old] = [now?.criteria?.get(row), before?.criteria?.get(row)];
      for (const name of new Set([...(fresh ?? []), ...(old ?? [])].map(criterionName)))
        count(this.tallies, name, metBy(fresh, name), metBy(old, name));
    }
  }

  /** By criterion, by its name; undefined where the term judges by none. */
  get changes(): Readonly<Record<string, CriterionChange>> | undefined {
    if (this.tallies.size === 0) return undefined;
    return Object.fromEntries(
      [...this.tallies].map(([name, { now, before, gained, lost }]) => [
        name,
        { met: meanOrNull(now), before: meanOrNull(before), gained, lost },
      ]),
    );
  }
}

function count(tallies: Map<string, CriterionTally>, name: string, now: Met, before: Met): void {
  const tally = tallies.get(name) ?? { now: [], before: [], gained: 0, lost: 0 };
  tallies.set(name, tally);
  if (now !== null) tally.now.push(now);
  if (before !== null) tally.before.push(before);
  if (now === null || before === null) return;
  if (now >= 1 && before < 1) tally.gained += 1;
  if (now < 1 && before >= 1) tally.lost += 1;
}
