import { z } from "zod";
import { baseline, param } from "../../../core/declaration.ts";
import type { Batch } from "../../../core/rollouts.ts";
import { noAdvantages } from "../population.ts";

/** Rows of one pair: as recorded, else the group's rollouts 0 and 1, 2 and 3, … */
function pairsOf(batch: Batch, groups: readonly Int32Array[]): number[][] {
  const pairs = new Map<string, number[]>();
  groups.forEach((rows, group) => {
    for (const row of rows) {
      const recorded = batch.pair?.[row] ?? -1;
      const key =
        batch.pair === undefined ? `${group} ${batch.records[row]!.index >> 1}` : `pair ${recorded}`;
      if (batch.pair !== undefined && recorded < 0) continue;
      pairs.set(key, [...(pairs.get(key) ?? []), row]);
    }
  });
  return [...pairs.values()];
}

export const pairPartner = baseline({
  name: "pair_partner",
  aliases: ["p3o"],
  summary:
    "Half the difference from the partner's reward, so shifting a prompt's rewards changes nothing. Partners share a recorded `pair`; where none is recorded, rollouts 0 and 1, 2 and 3, … of the group are partners. A rollout without a partner has no advantage.",
  formula: "A_1 = ½ (r_1 − r_2), A_2 = −A_1",
  sources: ["Pairwise Proximal Policy Optimization: Harnessing Relative Feedback for LLM Alignment"],
  needs: ["siblings"],
  params: z.object({ factor: param(z.number().positive().default(0.5), "Factor on the difference.") }),
  create: ({ factor }) => ({
    level: "response",
    centre(input) {
      const centred = noAdvantages(input);
      const { offsets } = input.units;
      for (const rows of pairsOf(input.batch, input.groups)) {
        if (rows.length !== 2) continue;
        const [a, b] = [rows[0]!, rows[1]!];
        const half = factor * (input.totals[a]! - input.totals[b]!);
        centred.fill(half, offsets[a]!, offsets[a + 1]!);
        centred.fill(-half, offsets[b]!, offsets[b + 1]!);
      }
      return centred;
    },
  }),
});
