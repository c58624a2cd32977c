import { z } from "zod";
import { baseline, param } from "../../../core/declaration.ts";
import type { Channel } from "../../../core/policy.ts";
import { finite, headColumn } from "../columns.ts";
import { refers } from "../../../core/references.ts";
import { noAdvantages } from "../population.ts";
import type { AdvantageInput } from "../../../core/slots/advantage.ts";

const params = z.object({
  v: param(
    z
      .array(refers({ to: "head" }))
      .min(1)
      .default(["v1", "v2"]),
    "Heads that predict before each turn, as a logit, whether the rollout will succeed; the smallest logit counts.",
  ),
  instruction: param(
    refers({ to: "head" }).optional(),
    "Head that predicts success before the first turn, as a logit, for `keep`; default: the heads of `v`.",
  ),
  margin: param(z.number().default(0.05), "How far ahead a turn has to be."),
  keep: param(
    z.number().gt(0).max(1).default(1),
    "Share of the step's rollouts that train: those that most exceeded the prediction for their task. DigiRL: 0.1.",
  ),
  model: param(refers({ to: "model", also: ["policy"] }).default("policy"), "The model that has the heads."),
});
type Params = z.output<typeof params>;
const who = "advantage.baseline: step_lead";

/** The least chance of success that some heads, which are logits, see at a token. */
const chanceAt = (columns: readonly Float64Array[], token: number): number =>
  1 / (1 + Math.exp(-Math.min(...columns.map((column) => column[token]!))));

/** Rows whose reward is furthest above what was expected at their first turn; equals of the last one are kept. */
function bestRows(
  input: AdvantageInput,
  expected: readonly Float64Array[],
  share: number,
): ReadonlySet<number> {
  const { units, totals, batch } = input;
  const leads = [...Array(batch.rows).keys()].flatMap((row) => {
    const unit = units.offsets[row]!;
    if (unit === units.offsets[row + 1] || Number.isNaN(totals[row]!)) return [];
    return [
      {
        row,
        lead: totals[row]! - finite(chanceAt(expected, units.first[unit]!), "a critic's value", batch, row),
      },
    ];
  });
  const ranked = leads.map(({ lead }) => lead).sort((a, b) => b - a);
  const least = ranked[Math.ceil(share * ranked.length) - 1] ?? Number.POSITIVE_INFINITY;
  return new Set(leads.filter(({ lead }) => lead >= least).map(({ row }) => row));
}

function leads(input: AdvantageInput, { v, instruction, margin, keep }: Params): Float64Array {
  const { units, batch, stats, rewards, gamma } = input;
  const heads = v.map((head) => headColumn(batch, stats, head, who));
  const expected = instruction === undefined ? heads : [headColumn(batch, stats, instruction, who)];
  const kept = bestRows(input, expected, keep);
  const result = noAdvantages(input);
  for (const row of kept) {
    let toCome = 0;
    let next = 0;
    for (let unit = units.offsets[row + 1]! - 1; unit >= units.offsets[row]!; unit--) {
      toCome = rewards[unit]! + gamma * toCome;
      const now = finite(chanceAt(heads, units.first[unit]!), "a critic's value", batch, row);
      result[unit] = next - now - margin + rewards[unit]! + toCome > 0 ? 1 : 0;
      next = now;
    }
  }
  return result;
}

export const stepLead = baseline({
  name: "step_lead",
  aliases: ["digirl"],
  summary:
    "1 for a turn that raises the chance of success or leads to it, else 0: only the likelihood of good turns rises. Only the rollouts that most exceeded the prediction for their task train.",
  formula:
    "A_t = 1[V(s_{t+1}) − V(s_t) − 0.05 + r_t + Σ_{k≥t} γ^{k−t} r_k > 0], V = min_i σ(V_i), 0 after the last turn",
  sources: ["DigiRL: Training In-The-Wild Device-Control Agents with Autonomous Reinforcement Learning"],
  params,
  create: (options) => ({
    level: "turn",
    returns: "own",
    channels: [
      ...new Set([...options.v, ...(options.instruction === undefined ? [] : [options.instruction])]),
    ].map((head) => ({ model: options.model, channel: `head:${head}` satisfies Channel })),
    centre: (input) => leads(input, options),
  }),
});
