/** One task through training: its groups, step by step. What `gradus rollouts --task` prints and the editor follows. */
import { formatNumber, plural } from "../lib/format.ts";
import { mean } from "../lib/mean.ts";
import type { GroupRow } from "../protocol/protocol.ts";
import { blocksOf } from "./rescoreText.ts";
import { fromWire, type RolloutRow } from "./rollouts.ts";

export interface TaskStep {
  readonly step: number;
  readonly group: string;
  readonly rollouts: number;
  /** How many were right; null: no one counted, as in a held-out evaluation. */
  readonly successes: number | null;
  readonly admitted: boolean | null;
  readonly reason: string | null;
  /** Mean reward; NaN: none has one. */
  readonly reward: number;
  /** By reward; undefined: none has one. */
  readonly best: RolloutRow | undefined;
  readonly worst: RolloutRow | undefined;
}

const rewardOf = ({ reward = null }: RolloutRow): number => fromWire(reward);

/** In the order of the steps. @param groups of the task @param rollouts of the task */
export function taskHistory(groups: readonly GroupRow[], rollouts: readonly RolloutRow[]): TaskStep[] {
  const members = new Map<string, RolloutRow[]>();
  const keyOf = ({ step, group }: { readonly step: number; readonly group: string }): string =>
    `${step} ${group}`;
  for (const rollout of rollouts) {
    const key = keyOf(rollout);
    const known = members.get(key);
    if (known === undefined) members.set(key, [rollout]);
    else known.push(rollout);
  }
  const counted = new Map(groups.map((group) => [keyOf(group), group]));
  return [...members]
    .map(([key, own]): TaskStep => {
      const { step, group } = own[0]!;
      const found = counted.get(key);
      const scored = own.filter((one) => !Number.isNaN(rewardOf(one)));
      const ranked = scored.toSorted((a, b) => rewardOf(b) - rewardOf(a));
      return {
        step,
        group,
        rollouts: own.length,
        successes: found?.successes ?? null,
        admitted: found?.admitted ?? null,
        reason: found?.reason ?? null,
        reward: scored.length === 0 ? Number.NaN : mean(scored.map(rewardOf)),
        best: ranked[0],
        worst: ranked.at(-1),
      };
    })
    .sort((a, b) => a.step - b.step);
}

/** "3 of 8 right"; "2 answers" where no one counted. */
export const rightText = ({ successes, rollouts }: TaskStep): string =>
  successes === null ? plural(rollouts, "answer") : `${formatNumber(successes)} of ${rollouts} right`;

/** "In 3 steps, 12 to 479  ▁▄█  0 of 8 right → 7 of 8 right"; by mean reward where no one counted. */
export function taskSummary(steps: readonly TaskStep[]): string {
  const [first, last] = [steps[0], steps.at(-1)];
  if (first === undefined || last === undefined) return "No step has drawn it.";
  const most = Math.max(1, ...steps.map(({ reward }) => (Number.isNaN(reward) ? 0 : reward)));
  const height = ({ successes, rollouts, reward }: TaskStep): number =>
    successes === null ? (Number.isNaN(reward) ? 0 : reward / most) : successes / rollouts;
  const came = (step: TaskStep): string =>
    step.successes === null ? `mean reward ${formatNumber(step.reward)}` : rightText(step);
  const drawn = `In ${plural(new Set(steps.map(({ step }) => step)).size, "step")}`;
  return steps.length === 1
    ? `${drawn}, ${first.step}: ${came(first)}`
    : `${drawn}, ${first.step} to ${last.step}  ${blocksOf(steps.map(height))}  ${came(first)} → ${came(last)}`;
}
