/** The keys of `sweep`: one config run with several values and seeds. */
import { z } from "zod";
import { refers } from "../references.ts";
import type { Built, Item } from "./field.ts";
import { entry, namedMap, value, whereWritten, whole } from "./kinds.ts";

/** Runs of a sweep, at most: more would not fit one table. */
export const mostTrials = 10_000;

const parameterFields = {
  values: value(z.array(z.json()).min(1), "The values to try, each as `--set` would write it."),
  min: value(z.number(), "The least value to try."),
  max: value(z.number(), "The largest value to try."),
  scale: value(
    z.enum(["linear", "log"]),
    "Between `min` and `max`: values uniform in themselves, or in their logarithm. Default: linear.",
  ),
  step: value(
    z.number().positive(),
    "Between `min` and `max`: only min, min + step, min + 2·step, … are tried. 1 for whole numbers.",
  ),
};

export type SweepParameter = { readonly key: string } & Built<typeof parameterFields>;

const written = entry(parameterFields);
const parameter: Item<SweepParameter> = {
  shape: written.shape,
  read: (at) => ({ key: at.name, ...written.read(at) }),
};

const stop = entry(
  {
    use: value(
      z.enum(["median"]),
      "median: a run is stopped when its best evaluation so far is worse than the median of the mean evaluations that the other runs of the sweep had up to the same step.",
      { default: "median" },
    ),
    after: value(
      whole(0),
      "Steps before which no run is stopped. Means are taken of the evaluations from there on.",
      { default: 1 },
    ),
    trials: value(whole(1), "Other runs that must have come as far before a run is stopped.", { default: 3 }),
  },
  { short: "use" },
);

const fields = {
  method: value(
    z.enum(["grid", "random"]),
    "grid: every combination of the values. random: combinations drawn by the config's seed, the same ones each time.",
    { default: "grid" },
  ),
  parameters: namedMap(
    "parameter",
    parameter,
    "Key of the config, as `--set` addresses it, to the values that are tried: `update.optimizer.lr: { values: [1.0e-6, 3.0e-6] }`.",
    { default: {} },
  ),
  trials: value(whole(1).max(mostTrials), "random: how many combinations are drawn."),
  seeds: value(
    z.union([whole(1).max(1000), z.array(z.number().int()).min(1)]),
    "Runs of each combination, each with a seed of its own from the config's seed on; or the list of seeds.",
    { default: 1 },
  ),
  metric: value(
    refers({ to: "evaluation metric" }),
    "The metric of evaluations that the table ranks combinations by, and that stops runs.",
    { default: "eval/pass@1" },
  ),
  stop: whereWritten(stop, "Stops runs early that do worse than the others did. Default: none is stopped."),
};

/** `gradus run` runs each combination; without the block it makes one run. */
export const sweep = whereWritten(
  entry(fields),
  "Runs this config with several values and seeds, one after the other; `gradus runs sweep` prints the table.",
);

export type SweepConfig = Built<typeof fields>;
