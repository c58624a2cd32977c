import { z } from "zod";
import { signal } from "../../../core/declaration.ts";
import type { Saved } from "../../../core/basics.ts";
import type { Group } from "../../../core/rollouts.ts";
import { Column } from "../../../core/arms/column.ts";
import type { Signal } from "../../../core/slots/curriculum.ts";
import { mean } from "../../../../shared/mean.ts";

/**
 * Single groups differ by chance alone, and the size of a difference counts that chance as progress. So it is the mean of
 * a step that is compared, with its sign: what is by chance cancels in the estimate, and its size is taken there.
 */
class LearningProgress implements Signal {
  /** Mean reward of an arm's last step. */
  private readonly before: Column;
  /** Of the present step, by arm. */
  private readonly present = new Map<number, { readonly sum: number; readonly rollouts: number }>();
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
    const { sum, rollouts } = this.present.get(arm) ?? { sum: 0, rollouts: 0 };
    this.present.set(arm, {
      sum: rewards.reduce((total, reward) => total + reward, sum),
      rollouts: rollouts + rewards.length,
    });
  }
  advance(): void {
    for (const [arm, { sum, rollouts }] of this.present) this.before.set(arm, sum / rollouts);
    this.present.clear();
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
    "How much an arm's mean reward of a step differs from that of the last step that drew it; what is compared is the size of what is believed of that difference.",
  formula: "s = r̄ − r̄ of the arm's last step, each over all the arm's rollouts of the step; score |Q|, or Q",
  sources: ["Teacher-Student Curriculum Learning"],
  params: z.object({
    absolute: z
      .boolean()
      .default(true)
      .describe("Forgetting counts as much as learning: samplers compare |Q|; else it is negative."),
    start: z
      .number()
      .nullable()
      .default(null)
      .describe("What an arm's first step is compared with; null: it says nothing. 0 in the source's code."),
  }),
  create: ({ absolute, start }) => new LearningProgress(absolute, start),
});
