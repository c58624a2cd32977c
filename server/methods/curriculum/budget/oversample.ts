import { z } from "zod";
import { budget, param } from "../../../core/declaration.ts";
import type { Saved } from "../../../core/basics.ts";
import type { Group } from "../../../core/rollouts.ts";
import type { Budget } from "../../../core/slots/curriculum.ts";

class Oversample implements Budget {
  private factor: number;

  constructor(
    private readonly decay: number,
    private readonly least: number,
    private readonly most: number,
  ) {
    this.factor = least;
  }

  groups(wanted: number): number {
    return Math.ceil(wanted * this.factor - 1e-9);
  }
  learn(groups: readonly Group[]): void {
    const scored = groups.filter(({ rewards }) => rewards.length > 0);
    if (scored.length === 0) return;
    const idle = scored.filter(({ successes, rewards }) => successes === 0 || successes === rewards.length);
    const valid = 1 - idle.length / scored.length;
    const now = Math.max(this.least, Math.min(this.most, valid > 0 ? 1 / valid : this.most));
    this.factor = this.decay * this.factor + (1 - this.decay) * now;
  }
  save(): Saved {
    return { json: this.factor };
  }
  load({ json }: Saved): void {
    this.factor = Number(json);
  }
}

export const oversample = budget({
  name: "oversample",
  summary:
    "Starts a step with extra groups, to make up for those that have lately been all right or all wrong.",
  formula:
    "groups = ⌈wanted · f⌉; f ← d f + (1 − d) clip(1/(1 − share of groups all right or all wrong), least, most)",
  sources: [
    "GLM-4.1V-Thinking: Towards Versatile Multimodal Reasoning with Scalable Reinforcement Learning",
    "Learning to Reason at the Frontier of Learnability",
  ],
  params: z.object({
    decay: param(z.number().min(0).lt(1).default(0.9), "d, of the moving average, a step."),
    least: param(
      z.number().min(1).default(1),
      "Smallest factor, with which a run begins; as large as `most`: always that.",
    ),
    most: param(z.number().min(1).default(4), "Largest factor."),
  }),
  create: ({ decay, least, most }) => new Oversample(decay, least, Math.max(least, most)),
});
