/** Seconds of a step and of its phases. Of verl's timings those are listed that time what a phase of ours does; the others keep their names. */
import { metric, type Metric } from "./metric.ts";

const seconds = (name: string, summary: string, aliases: Metric["aliases"] = {}): Metric =>
  metric(name, summary, { unit: "seconds", better: "lower", aliases });

/** Seconds of a step; the others are of runs that were imported when the list of metrics had no name for them. */
export const stepClocks: readonly string[] = ["time/total", "step_time", "timing_s/step"];

export const timeMetrics: readonly Metric[] = [
  seconds("time/total", "Wall time of the step.", {
    verl: ["timing_s/step"],
    trl: ["step_time"],
    skyrl: ["timing/step"],
  }),
  seconds("time/generate", "Wall time of generation.", {
    verl: ["timing_s/gen"],
    skyrl: ["timing/generate"],
  }),
  seconds("time/reward", "Wall time of scoring the responses.", { verl: ["timing_s/reward"] }),
  seconds("time/update", "Wall time of the updates; of verl the actor's alone.", {
    verl: ["timing_s/update_actor"],
    skyrl: ["timing/train_critic_and_policy"],
  }),
  seconds("time/evaluate", "Wall time of the evaluation.", {
    verl: ["timing_s/testing"],
    skyrl: ["timing/eval"],
  }),
  seconds(
    "time/<phase>",
    "Wall time of one phase of the step: choose (the curriculum draws and learns), generate, reward, score, update, evaluate, log, total.",
    { verl: ["timing_s/*"], trl: ["step_time"], skyrl: ["timing/*"] },
  ),
];
