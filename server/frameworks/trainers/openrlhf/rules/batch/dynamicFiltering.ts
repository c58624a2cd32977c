import type { RuleDiagnostic } from "../../../../rules/rule.ts";
import { scoredOutside } from "../../cluster.ts";
import type { Flags } from "../../flags.ts";
import { changes } from "../../../../rules/multiples.ts";
import { openrlhfRule } from "../../openrlhfRule.ts";

export const dynamicFiltering = openrlhfRule({
  id: "openrlhf-dynamic-filtering",
  title: "Impossible prompt filtering",
  why: "`algo.dynamic_filtering_enable` drops a prompt whose responses' mean score is not strictly between the two ends of `algo.dynamic_filtering_range`. It needs an interval, scores at generation time (a remote reward, a reward file or an agent) and several responses per prompt: openrlhf/cli/train_ppo_ray.py asserts all three, and its message calls the interval `reward_clip_range`. A range that holds no score drops every prompt, and training ends when the prompts do (`SamplesGenerator._generate_vllm`).",
  check(flags) {
    if (!flags.on("algo.dynamic_filtering_enable")) return [];
    return [...interval(flags), ...scores(flags), ...responsesCompared(flags)];
  },
});

function interval(flags: Flags): RuleDiagnostic[] {
  const range = flags.value("algo.dynamic_filtering_range");
  const [low, high] = Array.isArray(range) ? range : [];
  if (typeof low !== "number" || typeof high !== "number" || low < high) return [];
  const message = `\`${flags.name("algo.dynamic_filtering_range")}\` is ${low} to ${high}: the first must be below the second. OpenRLHF refuses it, and its error calls the range reward_clip_range.`;
  return flags.diagnostic(["algo.dynamic_filtering_range", "algo.dynamic_filtering_enable"], message);
}

function scores(flags: Flags): RuleDiagnostic[] {
  if (scoredOutside(flags) !== false) return [];
  const message = `\`${flags.name("algo.dynamic_filtering_enable")}\` needs \`${flags.name("reward.remote_url")}\` or \`${flags.name("train.agent_func_path")}\`: a reward model scores too late to filter by.`;
  return flags.diagnostic(["algo.dynamic_filtering_enable", "reward.model_name_or_path"], message);
}

function responsesCompared(flags: Flags): RuleDiagnostic[] {
  const count = flags.number("rollout.n_samples_per_prompt");
  if (count === undefined || count > 1) return [];
  const written = flags.written("rollout.n_samples_per_prompt");
  const message = `\`${flags.name("algo.dynamic_filtering_enable")}\` compares the responses to a prompt, and \`${flags.name("rollout.n_samples_per_prompt")}\` is ${count}${written === undefined ? " by default" : ""}: OpenRLHF refuses it.`;
  return flags.diagnostic(["rollout.n_samples_per_prompt", "algo.dynamic_filtering_enable"], message, {
    fixes: changes(written, [8]),
  });
}
