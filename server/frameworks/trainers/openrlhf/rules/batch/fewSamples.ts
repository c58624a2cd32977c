import { samplesOf } from "../../cluster.ts";
import { openrlhfRule } from "../../openrlhfRule.ts";

export const fewSamples = openrlhfRule({
  id: "openrlhf-few-samples",
  severity: "warning",
  title: "Fewer samples than a training batch",
  why: "The learning-rate schedule has prompts × responses // `train.batch_size` steps, times episodes and epochs: `prepare_datasets` in openrlhf/trainer/ppo_trainer.py. With `data.max_samples` below one batch it has 0.",
  check(flags) {
    const at = flags.written("data.max_samples");
    const [most, size, rollout] = [
      flags.number("data.max_samples"),
      flags.number("train.batch_size"),
      samplesOf(flags),
    ];
    if (
      at === undefined ||
      most === undefined ||
      size === undefined ||
      rollout === undefined ||
      most * rollout.responses >= size
    )
      return [];
    const message = `\`${flags.name("data.max_samples")}\` allows ${most} prompts × ${rollout.responses} responses = ${most * rollout.responses} samples, fewer than one batch of ${size}: the schedule has 0 steps.`;
    return flags.diagnostic(
      ["data.max_samples", "train.batch_size", "rollout.n_samples_per_prompt"],
      message,
    );
  },
});
