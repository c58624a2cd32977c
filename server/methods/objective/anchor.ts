import { z } from "zod";
import { param } from "../../core/declaration.ts";
import { refers } from "../../core/references.ts";

/** Which log-probs a loss compares the policy's with. */
export const anchorParam = (usual: string, more = "") =>
  param(
    refers({ to: "model", also: ["reference", "behaviour"] })
      .min(1)
      .default(usual),
    `Whose log-probs the policy's are compared with: \`reference\`, \`behaviour\` (the weights that generated the rollouts: the previous iterate) or a name in \`models\`${more}.`,
  );
export const betaParam = (usual: number) =>
  param(
    z.number().positive().default(usual),
    "Factor β on the log-ratio: how strongly the policy is held to the anchor.",
  );
