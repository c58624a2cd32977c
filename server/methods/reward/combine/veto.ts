import { z } from "zod";
import { combine, param } from "../../../core/declaration.ts";
import { refers } from "../../../core/references.ts";
import type { Batch } from "../../../core/rollouts.ts";
import { status, type Combined, type Rewards } from "../../../core/reward.ts";
import { failedRows, oneTerm, rowSum } from "../columns.ts";

const params = z.object({
  terms: param(
    z.array(refers({ to: "term" })).default([]),
    "Terms with a veto: where one is below `at_least`, before its weight, nothing else counts.",
  ),
  at_least: param(z.number().default(1), "What a term with a veto has to reach."),
  otherwise: param(z.number().default(0), "The reward where there is a veto."),
  saturation: param(
    z.number().nonnegative().default(0),
    "How fast a term's credit falls as it grows from 0 to 1; 0: it does not.",
  ),
});
type Params = z.output<typeof params>;

/** From 0 to 1 over the same range, steep at first; negative values stay. */
export const saturated = (value: number, strength: number): number =>
  strength === 0 || value <= 0 ? value : (1 - Math.exp(-strength * value)) / (1 - Math.exp(-strength));

function vetoed({ terms, weights }: Rewards, batch: Batch, options: Params): Combined {
  const errored = failedRows({ terms, weights }, batch.rows);
  const holders = terms.filter(({ name }) => options.terms.includes(name));
  for (const term of holders)
    term.status.forEach((state, row) => {
      if (state === status.error) errored[row] = 1;
    });
  const total = Float64Array.from({ length: batch.rows }, (_, row) => {
    if (errored[row] === 1) return Number.NaN;
    const isVetoed = holders.some(
      (term) => term.status[row] === status.value && rowSum(term, row) < options.at_least,
    );
    if (isVetoed) return options.otherwise;
    let [sum, weight] = [0, 0];
    terms.forEach((term, i) => {
      if (term.status[row] !== status.value || weights[i] === 0) return;
      sum += weights[i]! * saturated(rowSum(term, row), options.saturation);
      weight += weights[i]!;
    });
    return weight === 0 ? Number.NaN : sum / weight;
  });
  return { sources: [oneTerm("veto", total, errored)], total, errored };
}

export const veto = combine({
  name: "veto",
  summary:
    "Weighted mean of terms that are dimensions of one judgement. Some of them have a veto, and what each gives may saturate.",
  formula:
    "r = Σ_k w_k f(r_k) / Σ_k w_k, f(r) = (1 − e^{−s r}) / (1 − e^{−s}) for r > 0; `otherwise` where a term with a veto is not reached",
  sources: ["Reinforcement Learning with Rubric Anchors"],
  status: "approximate",
  params,
  create: (options) => (rewards, batch) => vetoed(rewards, batch, options),
});
