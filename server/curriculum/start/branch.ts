import { z } from "zod";
import { schedulable, start, valueAt } from "../../config/declaration.ts";
import type { Begun, Finished, Random, Task } from "../../seams.ts";

const kept = z.object({
  task: z.custom<Task>((value) => typeof value === "object" && value !== null),
  arm: z.string(),
  tokens: z.array(z.number()),
  /** Tokens before which it may be cut, likeliest to matter first. */
  cuts: z.array(z.number()),
});
type Kept = z.output<typeof kept>;

/** Places behind the first token and before the last: all of them, or those of the highest entropy. */
function cutsOf(
  { tokens, entropy }: Finished["rollouts"][number],
  at: "uniform" | "top_entropy",
  k: number,
): number[] {
  const places = Array.from({ length: Math.max(0, tokens.length - 2) }, (_, i) => i + 1);
  if (at === "uniform") return places;
  return places
    .filter((i) => !Number.isNaN(entropy[i]!))
    .sort((a, b) => entropy[b]! - entropy[a]! || a - b)
    .slice(0, k);
}

const oneOf = <Item>(items: readonly Item[], random: Random): Item => items[random.integer(items.length)]!;

export const branch = start({
  name: "branch",
  summary:
    "Some groups begin in the middle of an earlier rollout, at a token of it: all their rollouts go on from there.",
  sources: ["CURE: Critical-Token-Guided Re-Concatenation for Entropy-Collapse Prevention"],
  params: z.object({
    share: schedulable(z.number().min(0).max(1))
      .default(0.5)
      .describe("Probability that a drawn task gives way to an earlier rollout."),
    at: z
      .enum(["top_entropy", "uniform"])
      .default("top_entropy")
      .describe("Where: at one of the tokens of highest entropy, or anywhere."),
    k: z.number().int().min(1).default(20).describe("Tokens of highest entropy, of which one is drawn."),
    of: z
      .enum(["mixed", "failures", "successes", "all"])
      .default("mixed")
      .describe("Rollouts that are kept: of groups with both outcomes, or by their own."),
    capacity: z.number().int().min(1).default(256).describe("Rollouts that are kept, the latest."),
  }),
  create: ({ share, at, k, of, capacity }) => {
    let memory: Kept[] = [];
    const wanted = (group: Finished, { success }: Finished["rollouts"][number]): boolean => {
      if (of === "mixed") return group.successes > 0 && group.successes < group.rollouts.length;
      return of === "all" || success === (of === "successes");
    };
    return {
      begin: (drawn, { clock, random }) => {
        const odds = valueAt(share, clock);
        return Promise.resolve(
          drawn.map(({ task, arm }, i): Begun => {
            const own = random.fork("branch", i);
            if (memory.length === 0 || own.next() >= odds) return { task, arm };
            const from = oneOf(memory, own);
            const tokens = Int32Array.from(from.tokens.slice(0, oneOf(from.cuts, own)));
            return {
              task: from.task,
              arm: from.arm,
              lead: [{ kind: "given", tokens }],
              help: { use: "branch", by: "policy", share: tokens.length / from.tokens.length },
            };
          }),
        );
      },
      observe: (groups) => {
        const fresh = groups.flatMap((group) =>
          group.rollouts.flatMap((rollout): Kept[] => {
            const cuts = wanted(group, rollout) ? cutsOf(rollout, at, k) : [];
            if (cuts.length === 0 || rollout.begun) return [];
            return [{ task: group.task, arm: group.arm, tokens: [...rollout.tokens], cuts }];
          }),
        );
        memory = [...memory, ...fresh].slice(-capacity);
      },
      save: () => ({ json: JSON.parse(JSON.stringify(memory)) }),
      load: ({ json }) => {
        memory = z.array(kept).parse(json);
      },
    };
  },
});
