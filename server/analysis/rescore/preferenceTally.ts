/** Which of a config's rewards rank recorded successes above recorded failures, best first. */
import { randomStream } from "../../lib/random.ts";
import { outcome, rowValue } from "../../algorithm/rewards/rewards.ts";
import { groupKey } from "../recorded.ts";
import { preferenceOf, type Outcome, type Preference } from "./preference.ts";
import type { RescoredPart } from "./rescoredPart.ts";

export interface RankedReward extends Preference {
  /** null: the combined reward. */
  readonly term: string | null;
  /** It decides what a success is: it agrees with itself. */
  readonly decides: boolean;
  readonly candidate: boolean;
}

export interface RankedRewards {
  /** Terms that decide what a success is. */
  readonly success: readonly string[];
  readonly successes: number;
  readonly failures: number;
  /** The best first: by pairs within groups, where there are some. None where all succeed, or all fail. */
  readonly rewards: readonly RankedReward[];
}

export class PreferenceTally {
  private readonly groups = new Map<string, number>();
  private readonly deciders = new Set<string>();
  private readonly outcomes = new Map<string | null, Outcome[]>();
  private readonly counts = { successes: 0, failures: 0 };

  constructor(
    private readonly seed: number,
    private readonly candidates: ReadonlySet<string>,
  ) {}

  add({ rows, columns, success, deciders, now }: RescoredPart): void {
    for (const name of deciders) this.deciders.add(name);
    rows.forEach((row, i) => {
      if (success[i] === outcome.unknown) return;
      const won = success[i] === outcome.right;
      this.counts[won ? "successes" : "failures"] += 1;
      const key = groupKey(row);
      const group = this.groups.get(key) ?? this.groups.size;
      this.groups.set(key, group);
      this.note(null, { value: now[i]!, success: won, group });
      for (const column of columns)
        this.note(column.name, { value: rowValue(column, i), success: won, group });
    });
  }

  get found(): RankedRewards {
    const { successes, failures } = this.counts;
    const isOneSided = successes === 0 || failures === 0;
    const rewards = [...(isOneSided ? [] : this.outcomes)].map(([term, outcomes]): RankedReward => ({
      term,
      decides: term !== null && this.deciders.has(term),
      candidate: term !== null && this.candidates.has(term),
      ...preferenceOf(outcomes, randomStream(this.seed, "preference")),
    }));
    return { success: [...this.deciders], successes, failures, rewards: rewards.sort(better) };
  }

  private note(term: string | null, one: Outcome): void {
    if (Number.isNaN(one.value)) return;
    const known = this.outcomes.get(term);
    if (known === undefined) this.outcomes.set(term, [one]);
    else known.push(one);
  }
}

const better = (one: Preference, other: Preference): number => scoreOf(other) - scoreOf(one);
const scoreOf = ({ within, all }: Preference): number => within?.accuracy ?? all?.accuracy ?? -1;
