/** The other rollouts of a group, to choose one from. Pure. */
import { formatChange, formatNumber } from "../../../../shared/lib/format.ts";
import { fromWire, type RolloutRow } from "../../../../shared/rollouts/rollouts.ts";
import { oneLine } from "../writer.ts";

export interface SiblingItem {
  readonly label: string;
  readonly description: string;
  readonly detail: string;
  readonly index: number;
}

/** The best, the worst and the next first, then all others in their order. */
export function siblingItems(siblings: readonly RolloutRow[], own: number): SiblingItem[] {
  const others = siblings.filter(({ index }) => index !== own);
  const reward = ({ reward: value = null }: RolloutRow): number => fromWire(value);
  const ranked = others.filter((one) => !Number.isNaN(reward(one))).toSorted((a, b) => reward(b) - reward(a));
  const named = new Map<number, string>();
  const name = (rollout: RolloutRow | undefined, word: string): void => {
    if (rollout !== undefined && !named.has(rollout.index)) named.set(rollout.index, word);
  };
  name(ranked[0], "best");
  name(ranked.at(-1), "worst");
  name(others.find(({ index }) => index > own) ?? others[0], "next");
  const first = [...named.keys()].map((index) => others.find((one) => one.index === index)!);
  return [...first, ...others.filter(({ index }) => !named.has(index))].map((rollout) => ({
    label: `Rollout ${rollout.index}`,
    description: [
      named.get(rollout.index),
      `reward ${formatNumber(reward(rollout))}`,
      `advantage ${formatChange(fromWire(rollout.advantage ?? null))}`,
    ]
      .filter((word) => word !== undefined)
      .join(" · "),
    detail: oneLine(rollout.response ?? "").slice(0, 120),
    index: rollout.index,
  }));
}
