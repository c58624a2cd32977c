import { listed, nearest } from "../../../../../lib/suggest.ts";
import { setTo } from "../../fixes.ts";
import { found, verlRule } from "../../rule.ts";
import type { RuleDiagnostic, RuleModel } from "../../../../rules/rule.ts";

const [rule, threshold] = [
  "algorithm.rollout_correction.rollout_rs",
  "algorithm.rollout_correction.rollout_rs_threshold",
];

/** `SUPPORTED_ROLLOUT_RS_OPTIONS` of rollout_corr_helper.py, and the three that were before it. */
const options = [
  ...["token_k1", "token_k2", "token_k3", "seq_sum_k1", "seq_sum_k2", "seq_sum_k3"],
  ...["seq_mean_k1", "seq_mean_k2", "seq_mean_k3", "seq_max_k2", "seq_max_k3"],
];
const older = ["token", "sequence", "geometric"];

const split = (text: string): string[] =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");

/** Why `_parse_rollout_rs_thresholds` refuses one of them. */
function complaint(option: string, text: string): string | undefined {
  const parts = text.split("_");
  const numbers = parts.map((part) => (part.trim() === "" ? Number.NaN : Number(part)));
  if (numbers.some(Number.isNaN)) return `\`${text}\` is not a number`;
  if (parts.length > 1 && !option.endsWith("k1"))
    return `\`${option}\` has an upper bound only, not \`${text}\``;
  if (parts.length > 2) return `\`${text}\` has more than two bounds`;
  if (numbers.some((number) => number <= 0)) return `\`${text}\` is not above 0`;
  if (parts.length === 2 && numbers[0]! > numbers[1]!) return `\`${text}\` has its lower bound last`;
  // A lone bound of k1 is read as 1/bound to bound.
  return option.endsWith("k1") && parts.length === 1 && numbers[0]! < 1
    ? `\`${text}\` means ${1 / numbers[0]!} to ${text}, and these bounds cross`
    : undefined;
}

function thresholds(model: RuleModel, chosen: readonly string[]): RuleDiagnostic[] {
  const value = model.value(threshold);
  if (value === undefined) return [];
  if (value === null) {
    const message = "`rollout_rs` rejects by `rollout_rs_threshold`, which is null: set it.";
    return found(model, [rule, threshold], message, { fixes: [setTo(model, threshold, "2.0")] });
  }
  const texts = split(String(value));
  if (texts.length !== 1 && texts.length !== chosen.length) {
    const message = `\`rollout_rs_threshold\` has ${texts.length} values for ${chosen.length} of \`rollout_rs\`: give one for all, or one for each.`;
    return found(model, [threshold, rule], message);
  }
  return chosen.flatMap((option, i) => {
    const wrong = complaint(option, texts[texts.length === 1 ? 0 : i]!);
    return wrong === undefined ? [] : found(model, [threshold, rule], `\`rollout_rs_threshold\`: ${wrong}.`);
  });
}

export const rejectionThreshold = verlRule({
  id: "verl-rejection-threshold",
  title: "Invalid rollout rejection",
  why: "`compute_rollout_rejection_mask` and `_parse_rollout_rs_thresholds` (verl/trainer/ppo/rollout_corr_helper.py) require known names in `rollout_rs`, separated by commas, and a threshold above 0 for each or one for all: `lower_upper` for the ratios (`…k1`), an upper bound alone for the others. They check them in the first update.",
  since: "0.6.1",
  check(model) {
    const written = model.text(rule);
    if (written === undefined) return [];
    const modern = model.since("0.7.1");
    const [known, chosen] = [modern ? options : older, modern ? split(written) : [written]];
    const unknown = chosen.filter((option) => !known.includes(option));
    if (unknown.length === 0 && chosen.length > 0)
      return modern ? thresholds(model, [...new Set(chosen)]) : [];
    const meant = unknown.length === 1 && chosen.length === 1 ? nearest(unknown[0]!, known) : undefined;
    const message = `\`rollout_rs\` has no ${listed(unknown)}. It has ${listed(known)}.`;
    return found(model, [rule], message, {
      fixes: [meant === undefined ? undefined : setTo(model, rule, meant)],
    });
  },
});
