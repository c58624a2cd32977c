import { changes, lcm, multiplesAround } from "../../../../rules/multiples.ts";
import type { RuleDiagnostic, RuleModel } from "../../../../rules/rule.ts";
import { placed } from "../../../../rules/placed.ts";
import { batchOf, equation, remainder, type CompletionBatch } from "../../batch.ts";
import { rewarded } from "../../../../releases/programs/trl.ts";
import { trlRule } from "../../trlRule.ts";

export const batchSlices = trlRule({
  id: "trl-batch-slices",
  trees: rewarded,
  title: "Generation not divisible into batches",
  why: "Each process trains the completions of one generation in slices of `per_device_train_batch_size`, so their number must be a multiple of one slice over all processes: `GRPOConfig.__post_init__` in trl/trainer/grpo_config.py. If the file does not give the number of processes, Gradus reports only what fails with any number.",
  check(model) {
    const batch = batchOf(model);
    if (batch?.whole === undefined || batch.perDevice <= 0 || batch.whole <= 0) return [];
    const slice = batch.perDevice * (batch.processes ?? 1);
    return batch.whole % slice === 0 ? [] : [diagnosticOf(model, batch, batch.whole, slice)];
  },
});

function diagnosticOf(
  model: RuleModel,
  { perDevice, processes }: CompletionBatch,
  whole: number,
  slice: number,
): RuleDiagnostic {
  const { at, related } = placed(model, "generation_batch_size", "per_device_train_batch_size");
  const group = model.number("num_generations") ?? 1;
  // What divides into slices should hold whole groups as well.
  const step = lcm(slice, group);
  const over = processes === undefined ? "" : ` over ${processes} processes`;
  const message = `\`generation_batch_size\` is ${whole}, not a multiple of one batch of ${equation(perDevice, processes ?? 1)} completions${over}: ${remainder(whole, slice)}.`;
  const fixes = changes(
    at,
    multiplesAround(whole, step),
    (value) => `${value / slice} × ${slice}, ${value / group} × ${group}`,
  );
  return { message, at, related, fixes };
}
