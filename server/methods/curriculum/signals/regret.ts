import { z } from "zod";
import { signal } from "../../../core/declaration.ts";
import type { Saved } from "../../../core/basics.ts";
import type { Group } from "../../../core/rollouts.ts";
import { Column } from "../column.ts";
import { largest } from "../numbers.ts";
import type { Signal } from "../../../core/slots/curriculum.ts";
import { mean } from "../../../../shared/lib/mean.ts";

class Regret implements Signal {
  private readonly best = new Column(Number.NEGATIVE_INFINITY);

  measure({ rewards }: Group, arm: number): readonly number[] {
    return [Math.max(this.best.get(arm), largest(rewards)) - mean(rewards)];
  }
  remember({ rewards }: Group, arm: number): void {
    if (arm >= 0 && rewards.length > 0) this.best.set(arm, Math.max(this.best.get(arm), largest(rewards)));
  }
  save(): Saved {
    return { json: null, arrays: { best: this.best.save() } };
  }
  load({ arrays }: Saved): void {
    this.best.load(arrays?.["best"]);
  }
}

export const regret = signal({
  name: "regret",
  summary: "How much less the policy earns on average than the best reward ever seen of the arm.",
  formula: "s = max(best reward seen of the arm, max_i r_i) − mean_i r_i: the estimate called MaxMC",
  sources: ["Prioritized Level Replay", "Replay-Guided Adversarial Environment Design"],
  params: z.object({}),
  create: () => new Regret(),
});
