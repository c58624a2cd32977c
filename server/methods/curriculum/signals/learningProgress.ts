import { z } from "zod";
import { signal, param } from "../../../core/declaration.ts";
import type { Saved } from "../../../core/basics.ts";
import type { Group } from "../../../core/rollouts.ts";
import { Column } from "../column.ts";
import type { Signal } from "../../../core/slots/curriculum.ts";
import { mean } from "../../../../shared/lib/mean.ts";

/**
 * Single groups differ by chance, and an absolute difference would count that as progress. So the means of steps are
 * compared with their sign: chance cancels in the estimate, and the absolute value is taken of the estimate.
 */
class LearningProgress implements Signal {
  /** Mean reward of an arm's last step. */
  private readonly before: Column;
  /** Of the current step, by arm. */
  private readonly current = new Map<number, { readonly sum: number; readonly rollouts: number }>();
  readonly score?: (estimate: number) => number;

  constructor(absolute: boolean, start: number | null) {
    this.before = new Column(start ?? Number.NaN);
    if (absolute) this.score = Math.abs;
  }

  measure({ rewards }: Group, arm: number): readonly number[] {
    const progress = mean(rewards) - this.before.get(arm);
    return Number.isNaN(progress) ? [] : [progress];
  }
  remember({ rewards }: Group, arm: number): void {
    if (arm < 0 || rewards.length === 0) return;
    const { sum, rollouts } = this.current.get(arm) ?? { sum: 0, rollouts: 0 };
    this.current.set(arm, {
      sum: rewards.reduce((total, reward) => total + reward, sum),
      rollouts: rollouts + rewards.length,
    });
  }
  endStep(): void {
    for (const [arm, { sum, rollouts }] of this.current) this.before.set(arm, sum / rollouts);
    this.current.clear();
  }
  save(): Saved {
    return { json: null, arrays: { before: this.before.save() } };
  }
  load({ arrays }: Saved): void {
    this.before.load(arrays?.["before"]);
  }
}

export const learningProgress = signal({
  name: "learning_progress",
  summary:
    "How much an arm's mean reward of a step differs from that of the last step that drew it. Samplers compare the absolute value of the estimated difference.",
  formula: "s = r̄ − r̄ of the arm's last step, each over all the arm's rollouts of the step; score |Q|, or Q",
  sources: ["Teacher-Student Curriculum Learning"],
  params: z.object({
    absolute: param(
      z.boolean().default(true),
      "Forgetting counts as much as learning: samplers compare |Q|; else it is negative.",
    ),
    start: param(
      z.number().nullable().default(null),
      "What an arm's first step is compared with; null: the first step is not observed. 0 in the source's code.",
    ),
  }),
  create: ({ absolute, start }) => new LearningProgress(absolute, start),
});
