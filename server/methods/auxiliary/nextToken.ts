import { resolve } from "node:path";
import { z } from "zod";
import { refers } from "../../core/references.ts";
import { auxiliary, param } from "../../core/declaration.ts";

export const nextToken = auxiliary({
  name: "next_token",
  aliases: ["ntp", "ptx"],
  summary:
    "Next-token prediction on plain text in addition to reinforcement learning, so that the policy does not forget its language. Every token of a chunk trains; the loss is the mean over tokens.",
  formula: "L = −Σ_t log π(x_t | x_<t) / tokens",
  sources: [
    "Training language models to follow instructions with human feedback",
    "Reinforcement Mid-Training",
  ],
  params: z.object({
    path: param(
      refers({ to: "file", ends: [".txt", ".md", ".jsonl"] }).min(1),
      "A text file, or .jsonl whose lines have `text`; relative to the config.",
    ),
    rows: param(z.number().int().positive().default(16), "Chunks in each batch."),
    length: param(z.number().int().min(2).default(64), "Tokens in a chunk."),
  }),
  create: ({ path, rows, length }, { folder }) => ({
    kind: "likelihood",
    data: { from: "text", path: resolve(folder, path), length },
    rows,
    entropy: 0,
    gap: 0,
  }),
});
