import type { RuleDiagnostic } from "../../../rules/rule.ts";
import type { Flags } from "../flags.ts";
import { openrlhfRule } from "../openrlhfRule.ts";

const [level, mode, gating, threshold] = ["level", "mode", "gating", "threshold"].map(
  (name) => `algo.advantage.is_correction_${name}`,
) as [string, string, string, string];

export const correction = openrlhfRule({
  id: "openrlhf-correction",
  title: "Impossible importance correction",
  why: "Only the ratio of one token can be clipped (`clip`); a sequence's mean or a divergence can only reject (`mask`). A divergence has an upper bound alone, so it takes a single threshold: the default pair would reject everything. `PolicyLoss.__init__` in openrlhf/models/loss.py refuses the rest, since OpenRLHF 0.11.2.",
  check(flags) {
    if (!flags.model.since("0.11.2")) return [];
    return [...cut(flags), ...bounded(flags)];
  },
});

function cut(flags: Flags): RuleDiagnostic[] {
  const [unit, statistic] = [flags.text(level), flags.text(gating)];
  if (flags.text(mode) !== "clip" || unit === undefined || statistic === undefined) return [];
  if (unit !== "seq" && statistic === "ratio") return [];
  const cause = unit === "seq" ? `\`--${level} seq\`` : `\`--${gating} ${statistic}\``;
  const message = `\`--${mode} clip\` clips the ratio of a token, which it cannot do with ${cause}: use \`mask\`.`;
  return flags.diagnostic([mode, level, gating], message);
}

function bounded(flags: Flags): RuleDiagnostic[] {
  const [unit, statistic, limits] = [flags.text(level), flags.text(gating), flags.value(threshold)];
  const low = Array.isArray(limits) && limits.length === 2 ? limits[0] : 0;
  if (unit === undefined || unit === "off" || statistic === undefined || statistic === "ratio") return [];
  if (typeof low !== "number" || low <= 0) return [];
  const origin = flags.written(threshold) === undefined ? ", the default," : "";
  const message = `\`--${gating} ${statistic}\` has an upper bound only, and \`--${threshold}\`${origin} starts at ${low}: give a single upper bound.`;
  return flags.diagnostic([threshold, gating], message);
}
