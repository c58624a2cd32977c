import { z } from "zod";
import { rewardTerm, param } from "../../core/declaration.ts";
import type { TermValue } from "../../core/slots/reward.ts";
import type { Batch } from "../../core/rollouts.ts";
import { lengthOfRow } from "../../core/rows/batch.ts";
import { value } from "./perRow.ts";

/** Reward of a length under each shape that looks at one response alone. */
const shapes = {
  linear: (length: number, limit: number) => 1 - Math.min(length / limit, 1),
  limit: (length: number, limit: number) => (length <= limit ? 0 : -1),
  soft_overlong: (length: number, limit: number, cache: number) =>
    length <= limit - cache ? 0 : length <= limit && cache > 0 ? (limit - cache - length) / cache : -1,
} as const;

const ranges = {
  linear: [0, 1],
  limit: [-1, 0],
  soft_overlong: [-1, 0],
  group_relative: [-0.5, 0.5],
} as const;

/** 0.5 for the shortest response of a group, −0.5 for the longest; 0 where all are as long. */
function relative(lengths: readonly number[], { group, groups }: Batch): number[] {
  const low = new Float64Array(groups).fill(Number.POSITIVE_INFINITY);
  const high = new Float64Array(groups).fill(Number.NEGATIVE_INFINITY);
  lengths.forEach((length, row) => {
    low[group[row]!] = Math.min(low[group[row]!]!, length);
    high[group[row]!] = Math.max(high[group[row]!]!, length);
  });
  return lengths.map((length, row) => {
    const [least, most] = [low[group[row]!]!, high[group[row]!]!];
    return most === least ? 0 : 0.5 - (length - least) / (most - least);
  });
}

export const length = rewardTerm({
  name: "length",
  summary: "Rewards brevity, in tokens.",
  formula:
    "linear: 1 − min(n/limit, 1) · limit: −1[n > limit] · soft_overlong: 0 up to limit − cache, then falling to −1 at limit · group_relative: ½ − (n − min)/(max − min) over the group",
  sources: [
    "DAPO: An Open-Source LLM Reinforcement Learning System at Scale",
    "Kimi k1.5: Scaling Reinforcement Learning with LLMs",
  ],
  judges: "form",
  range: ({ shape }) => ranges[shape],
  params: z.object({
    shape: param(
      z.enum(["linear", "limit", "soft_overlong", "group_relative"]).default("linear"),
      "How the reward falls with the length.",
    ),
    limit: param(
      z.number().positive().optional(),
      "Length, in tokens, that the shape refers to; default: rollout.max_tokens.",
    ),
    cache: param(
      z.number().nonnegative().optional(),
      "For soft_overlong: tokens before `limit` over which the penalty grows; default: a fifth of it.",
    ),
  }),
  create: ({ shape, limit: own, cache: buffer }, context) => {
    const limit = own ?? context.max_tokens;
    const cache = buffer ?? limit / 5;
    return {
      score: (batch: Batch): Promise<readonly TermValue[]> => {
        const lengths = batch.records.map((_, row) => lengthOfRow(batch, row));
        const values =
          shape === "group_relative"
            ? relative(lengths, batch)
            : lengths.map((n) => shapes[shape](n, limit, cache));
        return Promise.resolve(values.map(value));
      },
    };
  },
});
