/** What rollouts that evaluate come to, under the names of the list of metrics; they may come piece by piece. */
import { mean } from "../../../../../shared/lib/mean.ts";
import {
  fromWire,
  toWire,
  type RolloutRow,
  type WireNumber,
} from "../../../../../shared/rollouts/rollouts.ts";

/** A rollout that gets this much counts as a success, as in `groupRecords`. */
const success = 1;

export class EvaluationTotals {
  private readonly rewards: number[] = [];
  private readonly terms = new Map<string, number[]>();
  private readonly groups = new Map<string, { right: number; size: number }>();

  add(rows: readonly RolloutRow[]): void {
    for (const { use, group, reward = null, rewards = {} } of rows) {
      if (use !== "evaluate") continue;
      const tried = this.groups.get(group) ?? { right: 0, size: 0 };
      this.groups.set(group, tried);
      tried.size += 1;
      if (fromWire(reward) >= success) tried.right += 1;
      if (reward !== null) this.rewards.push(fromWire(reward));
      for (const [term, value] of Object.entries(rewards))
        if (value !== null && typeof value !== "object") this.values(term).push(fromWire(value));
    }
  }

  /** Where each task has as many answers as the others, whether one of them is right is a metric, too. */
  metrics(): Record<string, WireNumber> {
    if (this.rewards.length === 0) return {};
    const groups = [...this.groups.values()];
    const sizes = new Set(groups.map(({ size }) => size));
    const [size = 1] = sizes;
    return {
      "eval/reward/total": toWire(mean(this.rewards)),
      ...Object.fromEntries(
        [...this.terms].map(([term, values]) => [`eval/reward/${term}`, toWire(mean(values))]),
      ),
      "eval/pass@1": mean(groups.map(({ right, size: of }) => right / of)),
      ...(sizes.size === 1 && size > 1
        ? { [`eval/pass@${size}`]: mean(groups.map(({ right }) => (right > 0 ? 1 : 0))) }
        : {}),
    };
  }

  private values(term: string): number[] {
    const known = this.terms.get(term) ?? [];
    this.terms.set(term, known);
    return known;
  }
}
