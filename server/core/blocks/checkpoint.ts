/** The keys of `checkpoint`: when the run saves itself. */
import { z } from "zod";
import { param } from "../declaration.ts";
import { metricNamed } from "../../../shared/metrics/metrics.ts";
import { refers } from "../references.ts";
import { made, map, value, whole } from "./kinds.ts";

/** Which way a metric gets better. */
export const betterWay = (metric: string): "max" | "min" =>
  metricNamed(metric)?.better === "lower" ? "min" : "max";

/** How evaluations are told apart: a better one from a worse. */
export const betterEvaluation = {
  metric: param(refers({ to: "evaluation metric" }), "A metric of evaluations, e.g. `eval/greedy`."),
  mode: param(
    z.enum(["max", "min"]).optional(),
    "Which direction is better. Default: what Gradus knows of the metric, else max.",
  ),
};
const bestSchema = z.strictObject(betterEvaluation);

export const checkpoint = map(
  {
    every: value(whole(1), "Steps between two checkpoints.", { default: 50, live: true }),
    every_seconds: value(
      z.number().positive(),
      "Seconds between two checkpoints. Whichever of steps and seconds comes first counts.",
      { default: 60, live: true },
    ),
    keep: value(whole(1), "How many of the latest checkpoints are kept.", { default: 3, live: true }),
    best: made(
      value(bestSchema, "Keeps the checkpoint of the best evaluation in addition to the latest: `RUN@best`."),
      (best) =>
        best === undefined ? undefined : { metric: best.metric, mode: best.mode ?? betterWay(best.metric) },
    ),
  },
  "When the run saves its state.",
);
