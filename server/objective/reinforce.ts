import { z } from "zod";
import { objective } from "../config/declaration.ts";
import type { Objective, ObjectiveInput, Weighed } from "../seams.ts";
import { column } from "./column.ts";
import { checkLoss } from "./finite.ts";

function loss(input: ObjectiveInput): Weighed {
  const { advantages, factors, weights } = input;
  const now = column(input.now, "logp", "the objective");
  const gradient = new Float64Array(now.length);
  let total = 0;
  for (let i = 0; i < now.length; i++) {
    if (weights[i] === 0) continue;
    if (advantages[i] !== 0) total -= factors[i]! * advantages[i]! * now[i]!;
    gradient[i] = -factors[i]! * advantages[i]!;
  }
  checkLoss(total, input, { logp: now });
  return { loss: total, gradients: { logp: gradient } };
}

export const reinforce = objective({
  name: "reinforce",
  aliases: ["gpg"],
  summary: "The plain policy gradient, without ratio or clip.",
  formula: "ℓ = −A log π",
  sources: ["Simple Statistical Gradient-Following Algorithms for Connectionist Reinforcement Learning"],
  params: z.object({}),
  create: (): Objective => ({ channels: ["logp"], unit: "sequence", loss }),
});
