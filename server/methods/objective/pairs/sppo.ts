import { z } from "zod";
import { objective } from "../../../core/declaration.ts";
import { anchorParam, betaParam } from "../anchor.ts";
import { pairing } from "../../../core/slots/objective.ts";
import { pairwise } from "./pairs.ts";

export const sppo = objective({
  name: "sppo",
  aliases: ["sppo_hard"],
  summary:
    "Self-play: each answer's log-ratio is regressed on its chance to win minus one half; the better answer of a pair always wins, the worse one never.",
  formula: "ℓ = (Δ_b − 1/(2β))² + (Δ_w + 1/(2β))², Δ = log π/π_ref",
  sources: ["Self-Play Preference Optimization for Language Model Alignment"],
  params: z.object({ beta: betaParam(0.1), anchor: anchorParam("reference"), pairs: pairing() }),
  create: ({ beta, ...compared }) => {
    const goal = 0.5 / beta;
    return pairwise(compared, (a, b) => {
      const [better, worse] = [a - goal, b + goal];
      return { loss: better * better + worse * worse, better: 2 * better, worse: 2 * worse };
    });
  },
});
