import { listed, nearest } from "../../../../../lib/suggest.ts";
import { setTo } from "../../fixes.ts";
import { found, verlRule } from "../../rule.ts";
import type { RuleModel } from "../../../../rules/rule.ts";

const [level, threshold] = [
  "algorithm.rollout_correction.rollout_is",
  "algorithm.rollout_correction.rollout_is_threshold",
];
const levels = ["token", "sequence"];

/** Why `_parse_rollout_is_threshold` refuses it; undefined if it does not. */
function complaint(model: RuleModel): string | undefined {
  const value = model.value(threshold);
  if (value === undefined || value === null) return undefined;
  if (typeof value === "boolean" || typeof value === "object") return "must be a number, or `lower_upper`";
  const parts = String(value).trim().split("_");
  const numbers = parts.map((part) => (part.trim() === "" ? Number.NaN : Number(part)));
  if (parts.length > 2 || numbers.some(Number.isNaN)) return "must be a number, or `lower_upper`";
  if (parts.length === 2 && !model.since("0.7.1")) return "must be one number (ranges came with verl 0.7.1)";
  if (numbers.some((number) => number <= 0)) return "must be above 0";
  return parts.length === 2 && numbers[0]! > numbers[1]! ? "must have its lower bound first" : undefined;
}

export const importanceThreshold = verlRule({
  id: "verl-importance-threshold",
  title: "Invalid importance weights",
  why: "`compute_rollout_correction_weights` (verl/trainer/ppo/rollout_corr_helper.py) requires `rollout_is` to be null, `token` or `sequence`, and a threshold above 0: one number truncates, `lower_upper` masks what is outside. It checks them in the first update.",
  since: "0.6.1",
  check(model) {
    const written = model.value(level);
    if (written === undefined || written === null) return [];
    if (typeof written !== "string" || !levels.includes(written)) {
      const meant = typeof written === "string" ? nearest(written, levels) : "token";
      const message = `\`rollout_is\` must be ${listed(levels)}, or null, not \`${String(written)}\`.`;
      return found(model, [level], message, {
        fixes: [meant === undefined ? undefined : setTo(model, level, meant)],
      });
    }
    const wrong = complaint(model);
    if (wrong === undefined) return [];
    const message = `\`rollout_is_threshold\` ${wrong}, but it is \`${String(model.value(threshold))}\`.`;
    return found(model, [threshold, level], message, { fixes: [setTo(model, threshold, "2.0")] });
  },
});
