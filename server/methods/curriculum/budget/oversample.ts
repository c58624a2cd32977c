import { z } from "zod";
import { budget, param } from "../../../core/declaration.ts";
import type { Saved } from "../../../core/basics.ts";
import type { Group } from "../../../core/rollouts.ts";
import type { Budget } from "../../../core/slots/curriculum.ts";

class Oversample implements Budget {
  private factor = 1;

  constructor(
    private readonly decay: number,
    private readonly most: number,
  ) {}

  groups(wanted: number): number {
    return Math.ceil(wanted * this.factor - 1e-9);
  }
  learn(groups: readonly Group[]): void {
    const scored = groups.filter(({ rewards }) => rewards.length > 0);
    if (scored.length === 0) return;
    const idle = scored.filter(({ successes, rewards }) => successes === 0 || successes === rewards.length);
    const valid = 1 - idle.length / scored.length;
    const now = Math.min(this.most, valid > 0 ? 1 / valid : this.most);
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
  formula: "groups = ⌈wanted · f⌉; f ← d f + (1 − d)/(1 − share of groups all right or all wrong), f ≤ most",
  sources: ["GLM-4.1V-Thinking: Towards Versatile Multimodal Reasoning with Scalable Reinforcement Learning"],
  params: z.object({
    decay: param(z.number().min(0).lt(1).default(0.9), "d, of the moving average, a step."),
    most: param(z.number().min(1).default(4), "Largest factor."),
  }),
  create: ({ decay, most }) => new Oversample(decay, most),
});
