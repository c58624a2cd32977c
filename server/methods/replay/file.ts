import { resolve } from "node:path";
import { z } from "zod";
import { refers } from "../../core/references.ts";
import { replaySource } from "../../core/declaration.ts";

export const file = replaySource({
  name: "file",
  aliases: ["offline"],
  summary:
    "Draws from recorded rollouts (JSONL), written by people, another model or an earlier run; the file does not grow. A row without tokens is read by the policy's tokenizer; a token without logp_old counts as written by the policy as it is.",
  sources: [
    "Precise and Dexterous Robotic Manipulation via Human-in-the-Loop Reinforcement Learning",
    "Improving Language Models with Advantage-based Offline Policy Gradients",
  ],
  params: z.object({
    path: refers({ to: "file", ends: [".jsonl"] })
      .min(1)
      .describe("The file, relative to the config that names it."),
    held_out: z
      .enum(["leave_out", "train"])
      .optional()
      .describe(
        "Rollouts of tasks that this run's evaluation holds out: left out (default), or trained on all the same. Rollouts that were written to be measured (`use: evaluate` or `estimate`) never train.",
      ),
  }),
  create: ({ path, held_out: heldOut = "leave_out" }, { folder }) => ({
    kind: "file",
    path: resolve(folder, path),
    heldOut,
  }),
});
