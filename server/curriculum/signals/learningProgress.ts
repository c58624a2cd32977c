import { z } from "zod";
import { signal } from "../../config/declaration.ts";
import type { Group, Saved } from "../../seams.ts";
import { Column } from "../column.ts";
import type { Signal } from "../types.ts";
import { mean } from "../../../shared/mean.ts";

class LearningProgress implements Signal {
  private readonly before = new Column(Number.NaN);

  constructor(private readonly absolute: boolean) {}

  measure({ rewards }: Group, arm: number): readonly number[] {
    const progress = mean(rewards) - this.before.get(arm);
    if (Number.isNaN(progress)) return [];
    return [this.absolute ? Math.abs(progress) : progress];
  }
  remember({ rewards }: Group, arm: number): void {
    if (arm >= 0 && rewards.length > 0) this.before.set(arm, mean(rewards));
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
    "How much an arm's mean reward differs from that of its group before; an arm's first group says nothing.",
  formula: "s = |r̄ − r̄ of the arm's last group|",
  sources: [
    "Teacher algorithms for curriculum learning of Deep RL in continuously parameterized environments",
    "Teacher-Student Curriculum Learning",
  ],
  params: z.object({
    absolute: z
      .boolean()
      .default(true)
      .describe("Forgetting counts as much as learning; else it is negative."),
  }),
  create: ({ absolute }) => new LearningProgress(absolute),
});
