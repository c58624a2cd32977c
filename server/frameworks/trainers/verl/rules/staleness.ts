import { listed } from "../../../../lib/suggest.ts";
import { setTo } from "../fixes.ts";
import { found, size, verlRule } from "../rule.ts";
import { isV1 } from "../shape.ts";
import type { RuleDiagnostic, RuleModel } from "../../../rules/rule.ts";

const [threshold, strategy] = [
  "trainer.v1.sampler.max_off_policy_threshold",
  "trainer.v1.sampler.max_off_policy_strategy",
];
const strategies = ["drop", "wait"];

function bound(model: RuleModel): RuleDiagnostic[] {
  const value = model.value(threshold);
  if (value === undefined || value === null || size(model, threshold) !== undefined) return [];
  if (!model.since("0.9.1") && typeof value !== "number") return [];
  const message = `\`max_off_policy_threshold\` must be a whole number of model versions above 0${model.since("0.9.1") ? ", or null for no bound" : ""}, not ${String(value)}.`;
  return found(model, [threshold], message, { fixes: [setTo(model, threshold, 1)] });
}

function way(model: RuleModel): RuleDiagnostic[] {
  const name = model.text(strategy);
  if (name === undefined || strategies.includes(name)) return [];
  const message = `\`max_off_policy_strategy\` must be ${listed(strategies)}, not \`${name}\`.`;
  return found(model, [strategy], message, { fixes: [setTo(model, strategy, "drop")] });
}

export const staleness = verlRule({
  id: "verl-staleness",
  title: "Invalid off-policy bound",
  why: "`ReplayBuffer.__init__` (verl/trainer/ppo/v1/replay_buffer.py) asserts that `max_off_policy_threshold` is a whole number above 0 and the strategy `drop` or `wait`.",
  since: "0.9.0",
  check: (model) => (isV1(model) ? [...bound(model), ...way(model)] : []),
});
