import { z } from "zod";
import { baseline, param } from "../../../core/declaration.ts";
import type { Batch } from "../../../core/rollouts.ts";
import { noAdvantages } from "../population.ts";
import { mean } from "../spread.ts";
import type { AdvantageInput } from "../../../core/slots/advantage.ts";

const key = (group: number, index: number, token: number): string => `${group} ${index} ${token}`;

/** Mean reward of the branches that left each rollout at each token. */
function branchValues({ batch, totals }: AdvantageInput): Map<string, number> {
  const sums = new Map<string, { sum: number; count: number }>();
  batch.records.forEach(({ use, parent }, row) => {
    if (use !== "estimate" || parent === undefined || Number.isNaN(totals[row]!)) return;
    const at = key(batch.group[row]!, parent.index, parent.token);
    const known = sums.get(at) ?? { sum: 0, count: 0 };
    sums.set(at, { sum: known.sum + totals[row]!, count: known.count + 1 });
  });
  return new Map([...sums].map(([at, { sum, count }]) => [at, sum / count]));
}

/** V before each unit of a row; NaN where no branch left there. The prompt's is the group's mean, if need be. */
function unitValues(
  { units }: AdvantageInput,
  batch: Batch,
  row: number,
  branches: ReadonlyMap<string, number>,
  prompt: number,
): number[] {
  const { values } = batch.columns;
  const { index } = batch.records[row]!;
  const [from, to] = [units.offsets[row]!, units.offsets[row + 1]!];
  return Array.from({ length: to - from }, (_, k) => {
    const token = units.start[from + k]! - batch.offsets[row]!;
    const known = branches.get(key(batch.group[row]!, index, token)) ?? values?.[units.start[from + k]!];
    return known !== undefined && Number.isFinite(known) ? known : k === 0 ? prompt : Number.NaN;
  });
}

export const monteCarlo = baseline({
  name: "monte_carlo",
  aliases: ["vineppo"],
  summary:
    "The value of a step's start is the mean reward of fresh continuations from there (rollouts of use `estimate` that name their `parent`), or the entry of `values` at its first token. A run generates the continuations. A step that has none is joined to the step before it; a prompt that has none takes the group's mean as its value.",
  formula: "A_t = r_t + V̂(s_{t+1}) − V̂(s_t), V̂(s) = mean reward of K continuations of s, V̂(end) = 0",
  sources: ["VinePPO: Unlocking RL Potential For LLM Reasoning Through Refined Credit Assignment"],
  params: z.object({
    k: param(
      z.number().int().min(1).default(9),
      "K: continuations that a run generates from the start of each step.",
    ),
    split: param(
      z.string().min(1).default("\n"),
      "The text that ends a step, for rollouts that do not record their steps.",
    ),
  }),
  create: (branches) => ({
    level: "step",
    branches,
    returns: "own",
    centre(input) {
      const { units, batch } = input;
      const branches = branchValues(input);
      const advantages = noAdvantages(input);
      for (const rows of input.groups) {
        const prompt = mean(input.totals, rows);
        for (const row of rows) {
          const [from, to] = [units.offsets[row]!, units.offsets[row + 1]!];
          const known = unitValues(input, batch, row, branches, prompt);
          for (let k = 0; k < to - from;) {
            let next = k + 1;
            while (next < to - from && Number.isNaN(known[next]!)) next++;
            let reward = 0;
            for (let unit = from + k; unit < from + next; unit++) reward += input.rewards[unit]!;
            const after = next < to - from ? known[next]! : 0;
            advantages.fill(reward + input.gamma * after - known[k]!, from + k, from + next);
            k = next;
          }
        }
      }
      return advantages;
    },
  }),
});
