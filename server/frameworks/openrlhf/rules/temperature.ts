import { changes } from "../../multiples.ts";
import { openrlhfRule } from "../openrlhfRule.ts";

export const temperature = openrlhfRule({
  id: "openrlhf-temperature",
  severity: "warning",
  title: "Sampling that gives the same answer every time",
  why: "vLLM takes a temperature of 0 for the likeliest token every time, so the answers to a prompt are equal and nothing can be compared; the model that trains divides its logits by the temperature (openrlhf/models/actor.py), and by 0 its loss is no number.",
  check(flags) {
    const [at, value] = [flags.written("rollout.temperature"), flags.number("rollout.temperature")];
    if (at === undefined || value === undefined || value > 0) return [];
    const message = `\`${flags.name("rollout.temperature")}\` is ${value}: every answer to a prompt is the same, and the logits are divided by ${value}. 1 is the default.`;
    return [{ at, message, fixes: changes(at, [1]) }];
  },
});
