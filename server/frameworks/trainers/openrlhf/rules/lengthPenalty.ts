import type { RuleDiagnostic } from "../../../rules/rule.ts";
import type { Flags } from "../flags.ts";
import { changes } from "../../../rules/multiples.ts";
import { openrlhfRule } from "../openrlhfRule.ts";

export const lengthPenalty = openrlhfRule({
  id: "openrlhf-length-penalty",
  title: "Impossible length penalty",
  why: "DAPO's penalty grows over the last `reward.overlong_buffer_len` tokens before the limit, so the buffer cannot exceed the limit (`rollout.max_new_tokens`, else `data.max_len`). `reward.stop_properly_penalty_coef` from 0 to 1 multiplies the reward of a truncated response; a negative one replaces it. openrlhf/trainer/ppo_utils/length_penalty.py asserts both, after the first generation.",
  check: (flags) => [...buffer(flags), ...coefficient(flags)],
});

function buffer(flags: Flags): RuleDiagnostic[] {
  const length = flags.number("reward.overlong_buffer_len");
  const own = flags.number("rollout.max_new_tokens");
  const limit =
    own ??
    (flags.model.since("0.9.8") && flags.lacks("rollout.max_new_tokens")
      ? flags.number("data.max_len")
      : undefined);
  if (length === undefined || limit === undefined || limit >= length) return [];
  const named = flags.name(own === undefined ? "data.max_len" : "rollout.max_new_tokens");
  const message = `\`${flags.name("reward.overlong_buffer_len")}\` is ${length}, longer than a response: \`${named}\` is ${limit}. OpenRLHF refuses it after the first generation.`;
  return flags.diagnostic(
    ["reward.overlong_buffer_len", own === undefined ? "data.max_len" : "rollout.max_new_tokens"],
    message,
  );
}

function coefficient(flags: Flags): RuleDiagnostic[] {
  const at = flags.written("reward.stop_properly_penalty_coef");
  const value = flags.number("reward.stop_properly_penalty_coef");
  if (at === undefined || value === undefined || value <= 1) return [];
  const message = `\`${flags.name("reward.stop_properly_penalty_coef")}\` is ${value}. It multiplies a truncated response's reward by 0 to 1, or replaces it by a number below 0.`;
  return [{ at, message, fixes: changes(at, [1]) }];
}
