import { z } from "zod";
import { UserError } from "../../../../shared/lib/errors.ts";
import { param, rewardTerm } from "../../../core/declaration.ts";
import { readerOf, type Models } from "../../../core/policy.ts";
import { refers } from "../../../core/references.ts";
import { rowsOfGroups } from "../../../core/rows/batch.ts";
import type { Batch } from "../../../core/rollouts.ts";
import type { TermValue } from "../../../core/slots/reward.ts";
import { value } from "../perRow.ts";
import { atLeast, numbersOf, ofTerm } from "../said.ts";
import { textUpTo } from "./readings.ts";
import { distance } from "../../../lib/algebra/linear.ts";
import { centresOf } from "./successCentres.ts";

const params = z.object({
  of: ofTerm,
  at_least: atLeast,
  model: param(
    refers({ to: "model", also: ["reference", "policy"] })
      .min(1)
      .default("reference"),
    "The model whose hidden states say what responses are like: `reference`, `policy`, or a name in `models`.",
  ),
  pooling: param(
    z.enum(["mean", "last"]).default("mean"),
    "Of the states of prompt and response: their mean, or the last.",
  ),
  most: param(z.number().positive().default(0.6), "More than this no failure earns; a success earns 1."),
  slope: param(z.number().positive().default(10), "How steeply the reward falls with the distance."),
});
type Params = z.output<typeof params>;

/** A vector of each row; undefined: it wrote nothing. */
async function vectorsOf(
  batch: Batch,
  models: Models,
  { model, pooling }: Params,
): Promise<(Float32Array | undefined)[]> {
  const reader = readerOf(models, model);
  const written = batch.records.flatMap((_, row) =>
    batch.offsets[row + 1]! > batch.offsets[row]! ? [row] : [],
  );
  // What is read has room for one token more.
  const texts = written.map((row) => textUpTo(batch, row, reader.context - 1));
  const vectors = texts.length === 0 ? [] : await reader.embed(texts, pooling, model);
  const found: (Float32Array | undefined)[] = batch.records.map(() => undefined);
  written.forEach((row, i) => (found[row] = vectors[i]));
  if (vectors.every((vector) => vector.every(Number.isFinite))) return found;
  throw new UserError(
    `near_success compares responses by the hidden states of ${model}, and these are not finite.`,
    {
      code: "embedding-overflow",
      action: "Resume from an earlier checkpoint, or lower the learning rate.",
    },
  );
}

/** Distances of a group from 0 to 1; as good as equal ones are all ½. */
export function normalised(distances: readonly number[]): number[] {
  const [least, most] = [Math.min(...distances), Math.max(...distances)];
  return distances.map((one) => (most - least < 1e-6 ? 0.5 : (one - least) / (most - least)));
}

export const nearSuccess = rewardTerm({
  name: "near_success",
  aliases: ["self_reference"],
  summary:
    "A success earns 1, and a failure the more the nearer its hidden states are to those of the group's successes: partial credit that no one has to design. 0 for failures of a group without a success.",
  formula:
    "r = 1 of a success, else 0.6 σ(10 (½ − d̃)), d̃: distance to the nearest centre of the successes, from 0 to 1 among the group's failures",
  sources: ["SRPO: Self-Referential Policy Optimization for Vision-Language-Action Models"],
  needs: ["siblings"],
  judges: "answer",
  range: ({ most }) => [0, Math.max(1, most)],
  reads: ({ of }) => [of],
  params,
  create: (options) => ({
    async score(batch, context) {
      const said = numbersOf(context, options.of);
      const vectors = await vectorsOf(batch, context.models, options);
      const scored = said.map((own): TermValue =>
        typeof own === "number" ? value(own >= options.at_least ? 1 : 0) : own,
      );
      for (const rows of rowsOfGroups(batch)) {
        const known = rows.filter((row) => typeof said[row] === "number" && vectors[row] !== undefined);
        const isRight = (row: number): boolean => Number(said[row]) >= options.at_least;
        const failures = known.filter((row) => !isRight(row));
        const successes = known.filter(isRight).map((row) => vectors[row]!);
        if (failures.length === 0 || successes.length === 0) continue;
        const centres = centresOf(successes);
        const distances = failures.map((row) =>
          Math.min(...centres.map((centre) => distance(centre, vectors[row]!))),
        );
        normalised(distances).forEach((far, i) => {
          const reward = options.most / (1 + Math.exp(-options.slope * (0.5 - far)));
          scored[failures[i]!] = { ...value(reward), components: { distance: distances[i]! } };
        });
      }
      return scored;
    },
  }),
});
