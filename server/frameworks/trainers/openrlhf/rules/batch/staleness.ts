import type { Flags } from "../../flags.ts";
import { openrlhfRule } from "../../openrlhfRule.ts";

const level = "algo.advantage.is_correction_level";

export const staleness = openrlhfRule({
  id: "openrlhf-staleness",
  severity: "info",
  title: "Off-policy samples without correction",
  why: "With `train.async_enable` samples come from weights that are one or more updates old, and with `train.partial_rollout_enable` one response mixes several. The trained model recomputes the loss's old log-probabilities (`make_experience` in openrlhf/trainer/ppo_utils/experience_maker.py), so the ratio of the loss misses the difference; `algo.advantage.is_correction_level` (before OpenRLHF 0.11.2 `is_correction_enable`) corrects it.",
  check(flags) {
    const at = flags.written("train.async_enable");
    if (at === undefined || !flags.on("train.async_enable") || corrects(flags) !== false) return [];
    const depth = flags.number("train.async_queue_size") ?? 1;
    const mixed = flags.on("train.partial_rollout_enable");
    const age = mixed
      ? "one response mixes several policies"
      : `samples are up to ${depth === 1 ? "an update" : `${depth} updates`} old`;
    const message = `Training is asynchronous, so ${age}, and nothing corrects for it (\`--${switchOf(flags)}\`): the loss treats them as the current policy's.`;
    return [{ at, message, severity: mixed || depth > 1 ? "warning" : "info" }];
  },
});

/** What switches the correction on, by release. */
const switchOf = ({ model }: Flags): string =>
  [level, "algo.advantage.is_correction_enable"].find((key) => model.fact(key) !== undefined) ??
  "enable_vllm_is_correction";

/** A name of another release counts too. */
function corrects({ model }: Flags): boolean | undefined {
  const others = ["algo.advantage.is_correction_enable", "enable_vllm_is_correction", "use_icepop"];
  if (others.some((key) => model.written(key) !== undefined)) return true;
  const value = model.fact(level) === undefined ? false : model.value(level);
  return value === undefined || model.document.incomplete ? undefined : value !== "off" && value !== false;
}
