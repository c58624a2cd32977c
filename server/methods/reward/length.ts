import { z } from "zod";
import { rewardTerm, param } from "../../core/declaration.ts";
import type { TermValue } from "../../core/slots/reward.ts";
import type { Batch } from "../../core/rollouts.ts";
import { lengthOfRow } from "../../core/rows/batch.ts";
import type { RewardContext } from "../../core/reward.ts";
import { value } from "./perRow.ts";
import { atLeast, numbersOf, ofTerm } from "./said.ts";

/** Reward of a length under each shape that looks at one response alone. */
const shapes = {
  linear: (length: number, limit: number) => 1 - Math.min(length / limit, 1),
  limit: (length: number, limit: number) => (length <= limit ? 0 : -1),
  soft_overlong: (length: number, limit: number, cache: number) =>
    length <= limit - cache ? 0 : length <= limit && cache > 0 ? (limit - cache - length) / cache : -1,
  inverse: (length: number, _limit: number, _cache: number, cost: number) => -cost / Math.max(length, 1),
} as const;

/** From r_0 at length 0 to r_L at the limit, along half a cosine. */
export const cosine = (share: number, [start, end]: readonly [number, number]): number =>
  end + 0.5 * (start - end) * (1 + Math.cos(Math.PI * share));

const ends = z.tuple([z.number(), z.number()]);

const params = z.object({
  shape: param(
    z.enum(["linear", "limit", "soft_overlong", "group_relative", "cosine", "inverse"]).default("linear"),
    "How the reward falls with the length.",
  ),
  limit: param(
    z.number().positive().optional(),
    "Length, in tokens, that the shape refers to; default: rollout.max_tokens.",
  ),
  cache: param(
    z.number().nonnegative().optional(),
    "For soft_overlong: tokens before `limit` over which the penalty grows; default: a fifth of it. For cosine: tokens before `limit` from which on it counts as reached; default: 0.",
  ),
  of: ofTerm,
  at_least: atLeast,
  correct: param(
    ends.default([2, 1]),
    "For cosine: the reward of a correct response of no length, and of one of `limit`.",
  ),
  wrong: param(
    ends.default([-10, 0]),
    "For cosine: the reward of a wrong response of no length, and of one of `limit`.",
  ),
  over: param(z.number().default(-10), "For cosine: the reward of a response that reaches `limit`."),
  cost: param(z.number().nonnegative().default(20), "For inverse: c, in tokens."),
});
type Params = z.output<typeof params>;

const ranges = {
  linear: () => [0, 1],
  limit: () => [-1, 0],
  soft_overlong: () => [-1, 0],
  group_relative: () => [-0.5, 0.5],
  cosine: ({ correct, wrong, over }) => {
    const all = [...correct, ...wrong, over];
    return [Math.min(...all), Math.max(...all)];
  },
  inverse: ({ cost }) => [-cost, 0],
} as const satisfies Record<Params["shape"], (params: Params) => readonly [number, number]>;

/** The shape that asks whether a response is correct. */
function byCorrectness(
  lengths: readonly number[],
  context: RewardContext,
  { of, at_least, correct, wrong, over }: Params,
  limit: number,
  margin: number,
): TermValue[] {
  return numbersOf(context, of).map((said, row) => {
    if (typeof said !== "number") return said;
    const n = lengths[row]!;
    if (n + margin >= limit) return value(over);
    return value(cosine(n / limit, said >= at_least ? correct : wrong));
  });
}

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
    "linear: 1 − min(n/limit, 1) · limit: −1[n > limit] · soft_overlong: 0 up to limit − cache, then falling to −1 at limit · group_relative: ½ − (n − min)/(max − min) over the group · cosine: r_L + ½(r_0 − r_L)(1 + cos(π n/limit)), with ends for correct and wrong responses · inverse: −c/n",
  sources: [
    "DAPO: An Open-Source LLM Reinforcement Learning System at Scale",
    "Kimi k1.5: Scaling Reinforcement Learning with LLMs",
    "Demystifying Long Chain-of-Thought Reasoning in LLMs",
    "On the Emergence of Thinking in LLMs I: Searching for the Right Intuition",
  ],
  judges: "form",
  range: (options) => ranges[options.shape](options),
  reads: ({ shape, of }) => (shape === "cosine" ? [of] : []),
  computes: () => true,
  params,
  create: (options, context) => {
    const { shape, cost } = options;
    const limit = options.limit ?? context.max_tokens;
    const cache = options.cache ?? limit / 5;
    return {
      score: (batch, reading): Promise<readonly TermValue[]> => {
        const lengths = batch.records.map((_, row) => lengthOfRow(batch, row));
        if (shape === "cosine")
          return Promise.resolve(byCorrectness(lengths, reading, options, limit, options.cache ?? 0));
        const values =
          shape === "group_relative"
            ? relative(lengths, batch)
            : lengths.map((n) => shapes[shape](n, limit, cache, cost));
        return Promise.resolve(values.map(value));
      },
    };
  },
});
