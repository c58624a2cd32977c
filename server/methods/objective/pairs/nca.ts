import { z } from "zod";
import { objective } from "../../../core/declaration.ts";
import { anchorParam, betaParam } from "../anchor.ts";
import { logSigmoid, sigmoid } from "../numbers.ts";
import { pairing } from "../../../core/slots/objective.ts";
import { pairwise } from "./pairs.ts";

export const nca = objective({
  name: "nca",
  aliases: ["nca_pair"],
  summary:
    "Noise contrast: each answer of a pair is classified alone against the reference's, so the better one's likelihood cannot fall with the worse one's.",
  formula: "ℓ = −log σ(x_b) − ½ log σ(−x_b) − ½ log σ(−x_w), x = β log π/π_ref",
  sources: ["Noise Contrastive Alignment of Language Models with Explicit Rewards"],
  params: z.object({ beta: betaParam(0.1), anchor: anchorParam("reference"), pairs: pairing() }),
  create: ({ beta, ...compared }) =>
    pairwise(compared, (a, b) => {
      const [better, worse] = [beta * a, beta * b];
      return {
        loss: -logSigmoid(better) - 0.5 * logSigmoid(-better) - 0.5 * logSigmoid(-worse),
        better: beta * (0.5 * sigmoid(better) - sigmoid(-better)),
        worse: 0.5 * beta * sigmoid(worse),
      };
    }),
});
