/** The keys of `evaluation`: held-out tasks that training never draws. */
import { z } from "zod";
import { made, map, value, whole } from "./kinds.ts";

const written = map(
  {
    every: value(whole(1), "Steps between evaluations.", { default: 50, live: true }),
    prompts: value(whole(1), "Held-out tasks measured.", { default: 128 }),
    pass_at: value(z.array(whole(1)).min(1), "The k of each pass@k.", { default: [1, 8] }),
    samples: value(whole(1), "Answers drawn per task; default: the largest k."),
    temperature: value(z.number().positive(), "Sampling temperature of pass@k.", { default: 1 }),
    record: value(
      whole(0),
      "Answers of each evaluation kept as rollouts, half greedy and half drawn, of the same first tasks; 0: none.",
      { default: 64 },
    ),
    matrix: value(
      z.union([z.boolean(), z.strictObject({ prompts: whole(1).describe("Held-out tasks of each stage.") })]),
      "As every stage ends, held-out tasks of all stages are measured: `eval/<stage>/pass@k`, which `gradus runs show` prints as a table. `{ prompts }`: how many tasks of each stage; default: `evaluation.prompts`.",
    ),
  },
  "Held-out tasks that training never draws.",
);

export const evaluation = made(written, ({ samples, matrix, ...read }, at) => ({
  ...read,
  /** Nobody wrote `prompts`: a model that answers slowly may be asked fewer. */
  fits: at.below("prompts").byDefault,
  samples: samples ?? Math.max(...read.pass_at),
  matrix: typeof matrix === "object" ? matrix.prompts : matrix === true ? read.prompts : undefined,
}));
