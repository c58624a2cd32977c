import { z } from "zod";
import { schedulable } from "../../../core/schedule.ts";
import { start, param } from "../../../core/declaration.ts";
import { fromEarlier, keptFields, oneOf, wantedOutcomes, type Earlier } from "./earlier.ts";

const kept = z.object({
  ...keptFields,
  tokens: z.array(z.number()),
  /** Tokens before which it may be cut, likeliest to matter first. */
  cuts: z.array(z.number()),
});

/** Positions after the first token and before the last: all of them, or those of the highest entropy. */
function cutsOf({ tokens, entropy }: Earlier, at: "uniform" | "top_entropy", k: number): number[] {
  const places = Array.from({ length: Math.max(0, tokens.length - 2) }, (_, i) => i + 1);
  if (at === "uniform") return places;
  return places
    .filter((i) => !Number.isNaN(entropy[i]!))
    .sort((a, b) => entropy[b]! - entropy[a]! || a - b)
    .slice(0, k);
}

export const branch = start({
  name: "branch",
  summary:
    "Some groups start in the middle of an earlier rollout, at one of its tokens; all their rollouts continue from there.",
  sources: ["CURE: Critical-Token-Guided Re-Concatenation for Entropy-Collapse Prevention"],
  params: z.object({
    share: param(
      schedulable(z.number().min(0).max(1)).default(0.5),
      "Probability that a drawn task is replaced by an earlier rollout.",
    ),
    at: param(
      z.enum(["top_entropy", "uniform"]).default("top_entropy"),
      "Where: at one of the tokens of highest entropy, or anywhere.",
    ),
    k: param(z.number().int().min(1).default(20), "Tokens of highest entropy, of which one is drawn."),
    of: param(
      wantedOutcomes.default("mixed"),
      "Rollouts that are kept: of groups with both outcomes, or by their own.",
    ),
    capacity: param(z.number().int().min(1).default(256), "Rollouts that are kept, the latest."),
  }),
  create: ({ share, at, k, of, capacity }) =>
    fromEarlier({
      name: "branch",
      share,
      of,
      capacity,
      schema: kept,
      keep: ({ task, arm }, rollout) => {
        const cuts = cutsOf(rollout, at, k);
        return cuts.length === 0 ? undefined : { task, arm, tokens: [...rollout.tokens], cuts };
      },
      begin: (memory, random) => {
        const from = oneOf(memory, random);
        const tokens = Int32Array.from(from.tokens.slice(0, oneOf(from.cuts, random)));
        return {
          task: from.task,
          arm: from.arm,
          lead: [{ kind: "given", tokens }],
          help: { use: "branch", by: "policy", share: tokens.length / from.tokens.length },
        };
      },
    }),
});
