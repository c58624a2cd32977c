/** The keys of `evaluation`: held-out tasks that training never draws. */
import { z } from "zod";
import { param } from "../declaration.ts";
import { betterEvaluation, betterWay } from "./checkpoint.ts";
import { made, map, path, value, whole } from "./kinds.ts";

const keepSchema = z.strictObject({
  ...betterEvaluation,
  gain: param(
    z.number().default(0),
    "δ: the least by which the metric must be better than at the last evaluation that kept its weights. Below 0 it may be worse by as much.",
  ),
});

const written = map(
  {
    every: value(whole(1), "Steps between two evaluations.", { default: 50, live: true }),
    seed: value(
      z.number().int(),
      "Seed of the exam: which held-out tasks are asked, and how answers to them are sampled. Runs with several seeds sit the same exam.",
      { default: 0 },
    ),
    prompts: value(whole(1), "How many held-out tasks an evaluation measures.", { default: 128 }),
    pass_at: value(z.array(whole(1)).min(1), "The values of k for which pass@k is measured.", {
      default: [1, 8],
    }),
    samples: value(whole(1), "Answers sampled per task. Default: the largest k."),
    temperature: value(z.number().positive(), "Sampling temperature of pass@k.", { default: 1 }),
    record: value(
      whole(0),
      "How many answers of each evaluation are kept as rollouts: half greedy and half sampled, of the same first tasks. 0: none.",
      { default: 64 },
    ),
    unsolved_by: made(
      path(
        ["nobody"],
        "list",
        "A list of held-out tasks that another model did not solve, which `gradus evaluate CHECKPOINT FILE --unsolved LIST.json` writes: evaluations ask these alone, so that pass@k is the share of them that is solved now.",
        { default: "nobody" },
      ),
      (file) => (file === "nobody" ? undefined : file),
    ),
    keep: made(
      value(
        keepSchema,
        "Undoes what an evaluation finds worse: unless the metric is at least as good as at the last evaluation that kept its weights, the policy and its optimiser go back to these.",
      ),
      (keep) => (keep === undefined ? undefined : { ...keep, mode: keep.mode ?? betterWay(keep.metric) }),
    ),
    matrix: value(
      z.union([
        z.boolean(),
        z.strictObject({ prompts: param(whole(1), "How many held-out tasks of each stage are measured.") }),
      ]),
      "When a stage ends, held-out tasks of all stages are measured: `eval/<stage>/pass@k`, which `gradus runs show` prints as a table. `{ prompts }` says how many tasks of each stage. Default: `evaluation.prompts`.",
    ),
  },
  "Evaluations on held-out tasks, which training never draws.",
);

export const evaluation = made(written, ({ samples, matrix, ...read }, at) => ({
  ...read,
  /** Nobody wrote `prompts`: a model that answers slowly may be asked fewer. */
  fits: at.below("prompts").byDefault,
  samples: samples ?? Math.max(...read.pass_at),
  matrix: typeof matrix === "object" ? matrix.prompts : matrix === true ? read.prompts : undefined,
}));
