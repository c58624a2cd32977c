/** Simulated rewards as groups, with the advantages that the config makes of them. */
import type { Algorithm } from "../../algorithm/algorithm.ts";
import { batchOfRows } from "../recorded.ts";
import type { Clock } from "../../core/basics.ts";
import type { Group } from "../../core/rollouts.ts";
import { simulatedSource } from "./source.ts";
import { mean } from "../../../shared/lib/mean.ts";
import { groupsOf } from "../../algorithm/rewards/groups.ts";
import { columnOf } from "../../algorithm/rewards/rewards.ts";
import type { DrawnTask } from "../../algorithm/curriculum/draws.ts";

/** One group of each task, in order; one token represents a response. */
export function simulatedGroups(
  algorithm: Algorithm,
  tasks: readonly DrawnTask[],
  rewards: readonly (readonly number[])[],
  clock: Clock,
): Group[] {
  const rows = rewards.flatMap((of, number) =>
    of.map((reward, index) => ({
      step: clock.step,
      group: String(number),
      index,
      task: { id: tasks[number]!.task.id, env: simulatedSource },
      reward,
      tokens: [0],
      logp_old: [0],
    })),
  );
  const batch = batchOfRows(rows, []);
  const column = columnOf(
    "total",
    rows.map(({ reward }) => ({ kind: "value", value: reward })),
    batch,
  );
  const scored = algorithm.rewards([column], batch, clock);
  const advantages = algorithm.advantages(scored.combined, batch, { logp: batch.columns.logp_old! }, clock);
  algorithm.observe(scored.combined, batch);
  return groupsOf(batch, scored, advantages).map((group, i) => {
    const { task, arm } = tasks[i]!;
    const answers = rewards[i]!.map((reward) => ({ response: "", right: reward >= 1 }));
    return { ...group, task, arm, answers, successes: answers.filter(({ right }) => right).length };
  });
}

/** A group before its advantages are known. */
export const outcomeOf = ({ task, arm }: DrawnTask, rewards: readonly number[]): Group => ({
  task,
  arm,
  rewards: Float64Array.from(rewards),
  advantages: new Float64Array(),
  successes: rewards.filter((reward) => reward >= 1).length,
  lengths: new Float64Array(rewards.length).fill(1),
});

/** E[A (r − r̄)]: by how much, to first order, a policy-gradient step on the group raises its task's reward. */
export function gainOf({ rewards, advantages }: Group): number {
  if (advantages.length !== rewards.length) return 0;
  const centre = mean(rewards);
  return mean(advantages.map((advantage, i) => advantage * (rewards[i]! - centre)));
}
