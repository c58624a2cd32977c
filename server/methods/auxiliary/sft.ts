import { resolve } from "node:path";
import { z } from "zod";
import { refers } from "../../core/references.ts";
import { auxiliary, param } from "../../core/declaration.ts";
import type { AuxiliaryData } from "../../core/slots/auxiliary.ts";

export const sft = auxiliary({
  name: "sft",
  aliases: ["likelihood", "bc", "behaviour_cloning"],
  summary:
    "Supervised learning in addition to reinforcement learning: raises the likelihood of demonstrations, of the tasks' written solutions, or of the policy's own successes (rejection sampling). The loss is the mean over their tokens.",
  formula: "L = −Σ_t log π(y_t) / tokens − entropy · H + gap · Σ_t [max log π − log π(y_t)] / tokens",
  sources: [
    "Learning What Reinforcement Learning Can't: Interleaved Online Fine-Tuning for Hardest Questions",
    "RLTF: Reinforcement Learning from Unit Test Feedback",
    "B-Coder: Value-Based Deep Reinforcement Learning for Program Synthesis",
    "Boosting the Generalization and Reasoning of Vision Language Models with Curriculum Reinforcement Learning",
  ],
  params: z
    .object({
      data: param(
        z.enum(["solutions", "successes", "file"]).default("solutions"),
        "solutions: the tasks' written solutions; successes: the policy's own; file: demonstrations in `path`.",
      ),
      path: param(
        refers({ to: "file", ends: [".jsonl"] })
          .min(1)
          .optional(),
        "For `file`: JSON lines, each with `prompt` and `response`, relative to the config.",
      ),
      held_out: param(
        z.enum(["leave_out", "train"]).optional(),
        "For `file`: whether demonstrations of tasks that this run's evaluation holds out are dropped (default) or train anyway.",
      ),
      rows: param(z.number().int().positive().default(32), "Sequences in each batch."),
      capacity: param(
        z.number().int().positive().default(2048),
        "For `successes`: how many of the newest are kept.",
      ),
      entropy: param(z.number().default(0), "Coefficient of an entropy bonus over the same tokens."),
      gap: param(
        z.number().min(0).default(0),
        "Coefficient on the gap between their log-probs and the likeliest token's; where logits are a Q, the gap is |A| of demonstrations over α (B-Coder).",
      ),
    })
    .refine(({ data, path }) => (data === "file") === (path !== undefined), {
      message: "`data: file` needs `path`, and no other `data` takes it",
    }),
  create: ({ data, path, held_out: heldOut = "leave_out", rows, capacity, entropy, gap }, { folder }) => {
    const from: AuxiliaryData =
      data === "file"
        ? { from: "file", path: resolve(folder, path ?? ""), heldOut }
        : data === "successes"
          ? { from: "successes", capacity }
          : { from: "solutions" };
    return { kind: "likelihood", data: from, rows, entropy, gap };
  },
});
