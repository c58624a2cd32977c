import { z } from "zod";
import { param, rewardTerm } from "../../../core/declaration.ts";
import { readerOf, type Models } from "../../../core/policy.ts";
import { refers } from "../../../core/references.ts";
import type { RewardTerm } from "../../../core/reward.ts";
import { rowsOfGroups } from "../../../core/rows/batch.ts";
import type { Batch } from "../../../core/rollouts.ts";
import type { TermValue } from "../../../core/slots/reward.ts";
import { cholesky, dot, solve } from "../../../lib/algebra/linear.ts";
import { failure, none, value } from "../perRow.ts";
import { atLeast, numbersOf, ofTerm } from "../said.ts";
import { askedOf, textUpTo } from "./readings.ts";
import { projected, sparseProjection } from "./sparseProjection.ts";

const params = z.object({
  of: ofTerm,
  at_least: atLeast,
  model: param(
    refers({ to: "model", also: ["reference", "policy"] })
      .min(1)
      .default("reference"),
    "The model whose hidden states are the features: `reference` (the policy at the start), `policy`, or a name in `models`.",
  ),
  dimension: param(
    z.number().int().positive().default(32),
    "Numbers that features are projected to; 128 for the source's longest responses.",
  ),
  lambda: param(
    z.number().positive().default(0.01),
    "λ: what the covariance has on its diagonal beforehand.",
  ),
  form: param(
    z.enum(["leverage", "leave_one_out"]).default("leverage"),
    "leverage: the covariance has the response itself too; leave_one_out: only its siblings.",
  ),
  gate: param(
    z.enum(["any_correct", "none"]).default("any_correct"),
    "any_correct: 0 for all responses of a group of which none is correct; none: always given.",
  ),
});
type Params = z.output<typeof params>;

/** φᵀ Σ⁻¹ φ of each feature, Σ = λ I + Σ φ φᵀ over all of them, less the own φ φᵀ where it is left out. */
export function ellipticalBonuses(
  features: readonly Float64Array[],
  lambda: number,
  form: Params["form"],
): number[] {
  const n = features[0]?.length ?? 0;
  const mean = new Float64Array(n);
  for (const one of features) one.forEach((x, i) => (mean[i]! += x / features.length));
  const centred = features.map((one) => one.map((x, i) => x - mean[i]!));
  const covariance = new Float64Array(n * n);
  for (let i = 0; i < n; i++) covariance[i * n + i] = lambda;
  for (const one of centred)
    for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) covariance[i * n + j]! += one[i]! * one[j]!;
  const root = cholesky(covariance, n);
  return centred.map((one) => {
    const leverage = dot(one, solve(root, one));
    // Sherman and Morrison: what is left without the response's own part.
    return form === "leverage" ? leverage : leverage / (1 - leverage);
  });
}

/** The mean state of each response's tokens, conditioned on its prompt; undefined: it has none. */
async function statesOf(batch: Batch, models: Models, model: string): Promise<(Float64Array | undefined)[]> {
  const reader = readerOf(models, model);
  // What is read has room for one token more, which a response that fills the context has not.
  const whole = batch.records.map((_, row) => textUpTo(batch, row, reader.context - 1));
  const rows = [...whole.keys()].filter((row) => whole[row]!.length > askedOf(batch, row).length);
  const prompts = new Map<string, Int32Array>();
  for (const row of rows) {
    const asked = askedOf(batch, row);
    if (asked.length > 0) prompts.set(asked.join(), asked);
  }
  const texts = [...rows.map((row) => whole[row]!), ...prompts.values()];
  const vectors = texts.length === 0 ? [] : await reader.embed(texts, "mean", model);
  const before = new Map([...prompts.keys()].map((key, i) => [key, vectors[rows.length + i]!]));
  const states: (Float64Array | undefined)[] = whole.map(() => undefined);
  rows.forEach((row, i) => {
    const asked = askedOf(batch, row);
    const first = before.get(asked.join());
    // A prompt's states are the same with and without the response, so the mean of all is that of both parts.
    const share = asked.length / (whole[row]!.length - asked.length);
    states[row] = Float64Array.from(vectors[i]!, (x, k) => x + (x - (first?.[k] ?? 0)) * share);
  });
  return states;
}

/** Rows of each group that may be paid. */
function groupsOf(batch: Batch, said: readonly (number | TermValue)[], options: Params): number[][] {
  const groups = rowsOfGroups(batch);
  const right = (row: number): boolean => {
    const own = said[row]!;
    return typeof own === "number" && own >= options.at_least;
  };
  return options.gate === "none" ? groups : groups.filter((rows) => rows.some(right));
}

export const ellipticalBonus = rewardTerm({
  name: "elliptical_bonus",
  aliases: ["rep_exp", "representation_exploration"],
  summary:
    "Rewards a response for hidden states that its siblings do not have: the mean state of its tokens, by a frozen model, projected at random and centred in the group. Give it a small `weight`.",
  formula: "r = φᵀ Σ⁻¹ φ, Σ = λ I + Σ_group φ φᵀ; 0 where no response of the group is correct",
  sources: ["Representation-Based Exploration for Language Models: From Test-Time to Post-Training"],
  needs: ["siblings"],
  judges: "form",
  reads: ({ of }) => [of],
  params,
  create: (options, { random }): RewardTerm => ({
    async score(batch, context) {
      const said = numbersOf(context, options.of);
      const results = said.map((own): TermValue => (typeof own === "number" ? value(0) : own));
      const states = await statesOf(batch, context.models, options.model);
      const width = states.find((one) => one !== undefined)?.length;
      if (width === undefined) return results.map(() => none);
      const projection = sparseProjection(
        width,
        options.dimension,
        random.fork("projection", context.clock.step),
      );
      const features = states.map((one) => one && projected(projection, one));
      for (const group of groupsOf(batch, said, options)) {
        const rows = group.filter((row) => features[row] !== undefined && typeof said[row] === "number");
        const bonuses = ellipticalBonuses(
          rows.map((row) => features[row]!),
          options.lambda,
          options.form,
        );
        rows.forEach((row, i) => {
          const bonus = bonuses[i]!;
          results[row] = Number.isFinite(bonus)
            ? value(bonus)
            : failure(`the bonus of ${options.model} is ${bonus}`);
        });
      }
      return results;
    },
  }),
});
