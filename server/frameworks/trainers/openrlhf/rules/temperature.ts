import { changes } from "../../../rules/multiples.ts";
import { openrlhfRule } from "../openrlhfRule.ts";

export const temperature = openrlhfRule({
  id: "openrlhf-temperature",
  severity: "warning",
  title: "Sampling without randomness",
  why: "At temperature 0 vLLM always takes the likeliest token, so the responses to a prompt are equal and there is nothing to compare. The trained model divides its logits by the temperature (openrlhf/models/actor.py), so at 0 its loss is NaN.",
  check(flags) {
    const [at, value] = [flags.written("rollout.temperature"), flags.number("rollout.temperature")];
    if (at === undefined || value === undefined || value > 0) return [];
    const message = `\`${flags.name("rollout.temperature")}\` is ${value}: every response to a prompt is the same, and the logits are divided by ${value}. The default is 1.`;
    return [{ at, message, fixes: changes(at, [1]) }];
  },
});
