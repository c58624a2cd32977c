import { openrlhfRule } from "../openrlhfRule.ts";

export const noEngine = openrlhfRule({
  id: "openrlhf-no-engine",
  title: "No inference engine",
  why: "vLLM generates every sample, and `vllm.num_engines` has no default. Without a number, `--ds.packing_samples` compares None with 0 and fails at once; otherwise `SamplesGenerator._dispatch_prompts_to_vllm` (openrlhf/trainer/ppo_utils/samples_generator.py) finds no engine at the first generation. This holds since OpenRLHF 0.9.2; before, models could generate without vLLM if samples were not packed.",
  check(flags) {
    const count = flags.value("vllm.num_engines");
    const none = count === null || (typeof count === "number" && count < 1);
    const packs = flags.on("ds.packing_samples");
    if (!none || !(flags.isRun || packs) || (!packs && !flags.model.since("0.9.2"))) return [];
    const name = flags.name("vllm.num_engines");
    const message =
      count === null
        ? `\`${name}\` is missing and has no default, so nothing generates.`
        : `\`${name}\` is ${count}, so nothing generates.`;
    return [
      {
        message: `${message} Set it to the number of vLLM's engines.`,
        at: flags.written("vllm.num_engines"),
      },
    ];
  },
});
