import { z } from "zod";
import { refers } from "../../../core/references.ts";
import { baseline, param } from "../../../core/declaration.ts";
import type { Channel } from "../../../core/policy.ts";
import { finite, headColumn } from "../columns.ts";
import { noAdvantages } from "../population.ts";

const heads = z.array(refers({ to: "head" })).min(1);

export const turnCritic = baseline({
  name: "turn_critic",
  aliases: ["archer"],
  summary:
    "A critic's value of the generated turn, minus the value it predicted before that turn. Of several heads the smallest counts, so that one optimistic head does not decide. Q is read at the turn's last token, V before its first.",
  formula: "A(turn) = min_i Q_i(s, a) − min_i V_i(s)",
  sources: ["ArCHer: Training Language Model Agents via Hierarchical Multi-Turn RL"],
  params: z.object({
    q: param(heads.default(["q1", "q2"]), "Heads of Q."),
    v: param(heads.default(["v1", "v2"]), "Heads of V."),
    model: param(
      refers({ to: "model", also: ["policy"] }).default("policy"),
      "The model that has the heads.",
    ),
  }),
  create: ({ q, v, model }) => ({
    level: "turn",
    returns: "own",
    channels: [...q, ...v].map((head) => ({ model, channel: `head:${head}` satisfies Channel })),
    centre(input) {
      const { units, batch, stats } = input;
      const columns = (names: readonly string[]): Float64Array[] =>
        names.map((head) => headColumn(batch, stats, head, "advantage.baseline: turn_critic"));
      const [qs, vs] = [columns(q), columns(v)];
      const least = (of: readonly Float64Array[], t: number): number =>
        Math.min(...of.map((column) => column[t]!));
      const advantages = noAdvantages(input);
      for (let unit = 0; unit < units.count; unit++) {
        if (Number.isNaN(input.rewards[unit]!)) continue;
        let last = units.end[unit]! - 1;
        while (last > units.first[unit]! && batch.mask[last] !== 1) last--;
        advantages[unit] = finite(
          least(qs, last) - least(vs, units.first[unit]!),
          "Q − V",
          batch,
          units.row[unit]!,
        );
      }
      return advantages;
    },
  }),
});
