import { z } from "zod";
import type { Saved } from "../../../core/basics.ts";
import { admission } from "../../../core/declaration.ts";
import type { Group } from "../../../core/rollouts.ts";
import type { Admission, Verdict } from "../../../core/slots/curriculum.ts";
import { no, unscored, yes } from "./verdicts.ts";

class SeenBefore implements Admission {
  /** Names of the arms of earlier steps. */
  private seen = new Set<string>();

  admit({ arm, rewards }: Group): Verdict {
    if (rewards.length === 0) return unscored;
    return this.seen.has(arm) ? yes : no("its arm is new: its first group only measures it");
  }
  remember(groups: readonly Group[]): void {
    for (const { arm, rewards } of groups) if (rewards.length > 0) this.seen.add(arm);
  }

  save(): Saved {
    return { json: [...this.seen] };
  }
  load({ json }: Saved): void {
    this.seen = new Set(z.array(z.string()).parse(json));
  }
}

export const seenBefore = admission({
  name: "seen_before",
  summary: "An arm's first group measures it and does not train; later ones do.",
  formula: "keep x where an earlier step has drawn its arm",
  sources: ["Replay-Guided Adversarial Environment Design"],
  params: z.object({}),
  create: () => new SeenBefore(),
});
