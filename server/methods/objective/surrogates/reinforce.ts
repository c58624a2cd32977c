import { z } from "zod";
import { objective } from "../../../core/declaration.ts";
import { inParts } from "../../../core/rows/batchParts.ts";
import type { LossSlice } from "../../../core/loss.ts";
import { column } from "../column.ts";
import { checkLoss } from "../finite.ts";

function loss(part: LossSlice): number {
  const { rows, offsets } = part.batch;
  const gradient = part.gradientOf("logp");
  const now = column(part.now, "logp", "the objective");
  let total = 0;
  for (let row = 0; row < rows; row++)
    total += rowLoss(part, now, gradient, offsets[row]!, offsets[row + 1]!);
  checkLoss(total, part, { logp: now });
  return total;
}

function rowLoss(
  { advantages, factors, weights }: LossSlice,
  now: Float64Array,
  gradient: Float64Array,
  from: number,
  to: number,
): number {
  let total = 0;
  for (let i = from; i < to; i++) {
    if (weights[i] === 0) continue;
    if (advantages[i] !== 0) total -= factors[i]! * advantages[i]! * now[i]!;
    gradient[i] = -factors[i]! * advantages[i]!;
  }
  return total;
}

export const reinforce = objective({
  name: "reinforce",
  aliases: ["gpg"],
  summary: "The plain policy gradient, without ratio or clip.",
  formula: "ℓ = −A log π",
  sources: ["Simple Statistical Gradient-Following Algorithms for Connectionist Reinforcement Learning"],
  params: z.object({}),
  create: () => inParts({ channels: ["logp"], unit: "sequence" }, () => ({ add: loss, result: () => ({}) })),
});
