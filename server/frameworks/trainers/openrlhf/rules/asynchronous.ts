import { removal } from "../../../rules/removal.ts";
import type { RuleDiagnostic } from "../../../rules/rule.ts";
import type { Flags } from "../flags.ts";
import { openrlhfRule } from "../openrlhfRule.ts";

export const asynchronous = openrlhfRule({
  id: "openrlhf-asynchronous",
  title: "Flag conflicts with asynchronous training",
  why: "With `train.async_enable` generation and training run at the same time, so vLLM cannot sleep (`vllm.enable_sleep`). Two features need it: a rollout that continues across an update (`train.partial_rollout_enable`, since OpenRLHF 0.9.8), and generating more prompts at once than a rollout holds (`rollout.vllm_generate_batch_size` above `rollout.batch_size`, since 0.10). openrlhf/cli/train_ppo_ray.py asserts all three. Without `train.colocate_all` nothing shares vLLM's GPUs, and OpenRLHF silently switches sleeping off.",
  check: (flags) => [...asleep(flags), ...partial(flags), ...oversampled(flags)],
});

function asleep(flags: Flags): RuleDiagnostic[] {
  const at = flags.written("vllm.enable_sleep");
  if (!flags.on("vllm.enable_sleep") || at === undefined) return [];
  const [colocated, name] = [flags.value("train.colocate_all"), flags.name("vllm.enable_sleep")];
  const fixes = removal(flags.model, at);
  if (colocated === false) {
    const message = `\`${name}\` does nothing without \`${flags.name("train.colocate_all")}\`: nothing shares vLLM's GPUs, and OpenRLHF switches it off.`;
    return [{ at, message, severity: "warning", fixes }];
  }
  if (colocated !== true || !flags.on("train.async_enable")) return [];
  const message = `\`${name}\` and \`${flags.name("train.async_enable")}\` exclude each other: vLLM generates while the others train, so it cannot sleep. OpenRLHF refuses both together.`;
  return flags.diagnostic(["vllm.enable_sleep", "train.async_enable"], message, { fixes });
}

function partial(flags: Flags): RuleDiagnostic[] {
  if (!flags.on("train.partial_rollout_enable") || flags.value("train.async_enable") !== false) return [];
  const at = flags.written("train.partial_rollout_enable");
  const message = `\`${flags.name("train.partial_rollout_enable")}\` needs \`${flags.name("train.async_enable")}\`: only then does generation continue across an update.`;
  return [{ at, message }];
}

function oversampled(flags: Flags): RuleDiagnostic[] {
  const [wanted, size] = [
    flags.number("rollout.vllm_generate_batch_size"),
    flags.number("rollout.batch_size"),
  ];
  if (wanted === undefined || size === undefined || wanted <= size || !flags.model.since("0.10.0")) return [];
  if (flags.value("train.async_enable") !== false) return [];
  const message = `\`${flags.name("rollout.vllm_generate_batch_size")}\` is ${wanted}, above the ${size} prompts of a rollout (\`${flags.name("rollout.batch_size")}\`). Only the queue of \`${flags.name("train.async_enable")}\` keeps more, and OpenRLHF refuses it without.`;
  return flags.diagnostic(["rollout.vllm_generate_batch_size", "rollout.batch_size"], message);
}
