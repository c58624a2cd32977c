import { samplesOf } from "../../cluster.ts";
import { openrlhfRule } from "../../openrlhfRule.ts";

const sizes = ["train.batch_size", "rollout.batch_size", "rollout.n_samples_per_prompt"];

export const trainRemainder = openrlhfRule({
  id: "openrlhf-train-remainder",
  severity: "warning",
  title: "Rollout not divisible into training batches",
  why: "The samples of a rollout, `rollout.batch_size` × `n_samples_per_prompt`, train in batches of `train.batch_size`. OpenRLHF does not compare the two. With micro batches the remainder stays in DeepSpeed's accumulated gradient and mixes with the next rollout's. With `train.dynamic_batch_enable` it is dropped, so a rollout below one batch trains nothing (openrlhf/trainer/ppo_utils/replay_buffer.py).",
  check(flags) {
    const rollout = samplesOf(flags);
    const size = flags.number("train.batch_size");
    if (rollout === undefined || size === undefined || size < 1 || rollout.samples % size === 0) return [];
    const { prompts, responses, samples } = rollout;
    const steps = Math.floor(samples / size);
    const left = `${samples} = ${steps} × ${size} + ${samples % size}`;
    const fate = flags.on("train.dynamic_batch_enable")
      ? "never train"
      : "mix into the next rollout's first step";
    const message = `A rollout is ${prompts} prompts × ${responses} responses = ${samples} samples, and \`${flags.name("train.batch_size")}\` ${size}: ${left}. The last ${samples % size} ${fate}.`;
    return flags.diagnostic(sizes, message);
  },
});
