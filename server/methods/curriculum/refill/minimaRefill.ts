import { z } from "zod";
import { refill, param } from "../../../core/declaration.ts";
import type { Saved } from "../../../core/basics.ts";
import type { Refill } from "../../../core/slots/curriculum.ts";

/** A lower bound of the share, since a round may keep nothing. */
const smallestShare = 1e-3;

class MinimaRefill implements Refill {
  /** The least share of a round's groups that was kept, over all steps and in this one. */
  private always = 1;
  private now = 1;
  private before = { admitted: 0, drawn: 0 };

  constructor(private readonly factor: number) {}

  more({ wanted, admitted, drawn, round }: Parameters<Refill["more"]>[0]): number {
    if (round <= 1) [this.now, this.before] = [1, { admitted: 0, drawn: 0 }];
    const share = (admitted - this.before.admitted) / Math.max(1, drawn - this.before.drawn);
    this.before = { admitted, drawn };
    this.now = Math.min(this.now, share);
    this.always = Math.min(this.always, Math.max(share, smallestShare));
    const left = Math.floor(this.factor * wanted) - drawn;
    if (admitted >= wanted || left <= 0) return 0;
    const least = Math.max(smallestShare, Math.min(this.always, this.now));
    return Math.min(left, Math.ceil((wanted - admitted) / least));
  }
  save(): Saved {
    return { json: this.always };
  }
  load({ json }: Saved): void {
    [this.always, this.now, this.before] = [Number(json), 1, { admitted: 0, drawn: 0 }];
  }
}

export const minimaRefill = refill({
  name: "running_minima",
  summary:
    "Draws what is missing divided by the least share that was ever kept, up to a bound on the groups drawn.",
  formula: "more = ⌈(wanted − admitted)/min(kept_all, kept_step)⌉, both least shares kept of a round so far",
  sources: ["CodeV-R1: Reasoning-Enhanced Verilog Generation"],
  params: z.object({
    factor: param(
      z.number().gt(1).default(4),
      "Groups drawn in a step are at most this many times `rollout.prompts`.",
    ),
  }),
  create: ({ factor }) => new MinimaRefill(factor),
});
