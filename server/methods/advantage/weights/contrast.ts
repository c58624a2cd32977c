import { z } from "zod";
import { tokenWeight, param } from "../../../core/declaration.ts";
import { refers } from "../../../core/references.ts";
import { readerName } from "../../../core/rows/reader.ts";
import type { TokenWeight } from "../../../core/loss.ts";
import type { Batch } from "../../../core/rollouts.ts";
import { schedulable, valueAt } from "../../../core/schedule.ts";
import { scoredColumn } from "../columns.ts";

const who = "advantage.token_weights: contrast";

const params = z.object({
  model: param(
    refers({ to: "model", also: ["reference"] }).default("reference"),
    "The teacher; entries of `kl` with this model say what it reads (`shown`), and may have the coefficient 0.",
  ),
  right: param(
    refers({ to: "shown" }).default("sibling"),
    "What the entry with the right hint shows, as for `evidence`.",
  ),
  wrong: param(
    z
      .array(refers({ to: "shown" }))
      .min(1)
      .default(["wrong_sibling"]),
    "What the entries with wrong hints show; the second of a kind is `wrong_sibling-2`. A rollout is compared with those that it has.",
  ),
  tau: param(z.number().positive().default(0.02), "τ, the gap at which the contrast is near its bound."),
  gain: param(
    schedulable(z.number().nonnegative()).default(0.5),
    "g, the most that is added to an advantage (βλ in the source).",
  ),
  clip: param(z.number().nonnegative().default(2), "c, a second bound on what is added."),
  least: param(z.number().nonnegative().default(0.02), "δ: what is not above it is not added."),
  eta: param(
    z.number().nonnegative().default(1),
    "η, the weight of the mean over tokens with a contrast; the mean over those without has 1.",
  ),
});

/** log of the mean of the wrong hints' probabilities at a token. */
function logMean(columns: readonly Float64Array[], t: number): number {
  const most = Math.max(...columns.map((column) => column[t]!));
  const sum = columns.reduce((whole, column) => whole + Math.exp(column[t]! - most), 0);
  return most + Math.log(sum / columns.length);
}

/** The advantage with the contrast over the one without; it never changes sides. */
const factor = (advantage: number, added: number): number =>
  advantage === 0 ? 1 : Math.max(0, 1 + added / advantage);

/** Both kinds of tokens, so that a mean over all is the sum of a mean over each. */
function apart(weights: Float64Array, kinds: Uint8Array, { mask }: Batch, eta: number): void {
  const counts = [0, 0, 0];
  for (let t = 0; t < kinds.length; t++) if (mask[t] === 1) counts[kinds[t]!]! += 1;
  const all = counts[unread]! + counts[plain]! + counts[contrasted]!;
  const scales = [0, all / counts[plain]!, (eta * all) / counts[contrasted]!];
  for (let t = 0; t < kinds.length; t++) if (kinds[t] !== unread) weights[t]! *= scales[kinds[t]!]!;
}

const [unread, plain, contrasted] = [0, 1, 2] as const;

export const contrast = tokenWeight({
  name: "contrast",
  summary:
    "A teacher that reads a right answer is compared with itself reading wrong ones: a bounded part of the difference is added to each token's advantage, which keeps its sign. Tokens with and without it have a mean each; rollouts that lack a hint of either kind do not train. For `aggregate: token_mean`.",
  formula:
    "e_t = log π_T(y_t | right) − log mean_k π_T(y_t | wrong_k); r_t = clip(g tanh(e_t / τ), ±c), 0 where |r_t| ≤ δ; w_t = max(0, 1 + r_t / A_t), times N / N_0 where r_t = 0, η N / N_r elsewhere; without gradient",
  sources: ["RLCSD: Reinforcement Learning with Contrastive On-Policy Self-Distillation"],
  params,
  create: ({ model, right, wrong, tau, gain, clip, least, eta }) => {
    const readerOf = (teacher: string): string => readerName({ model, teacher });
    const weigh: TokenWeight = (batch, stats, advantages, clock) => {
      const column = (shown: string): Float64Array => scoredColumn(stats, `logp:${readerOf(shown)}`, who);
      const [ofRight, ofWrong] = [column(right), wrong.map(column)];
      const most = valueAt(gain, clock);
      const weights = new Float64Array(batch.mask.length);
      const kinds = new Uint8Array(weights.length);
      batch.records.forEach(({ shown }, row) => {
        const others = ofWrong.filter((_, k) => shown?.[wrong[k]!] !== undefined);
        if (shown?.[right] === undefined || others.length === 0) return;
        for (let t = batch.offsets[row]!; t < batch.offsets[row + 1]!; t++) {
          const added = most * Math.tanh((ofRight[t]! - logMean(others, t)) / tau);
          const bounded = Math.min(clip, Math.max(-clip, added));
          const acts = Math.abs(bounded) > least;
          weights[t] = acts ? factor(advantages[t]!, bounded) : 1;
          kinds[t] = acts ? contrasted : plain;
        }
      });
      apart(weights, kinds, batch, eta);
      return weights;
    };
    return Object.assign(weigh, { models: [right, ...wrong].map(readerOf) });
  },
});
