import { functionsIn } from "../../rewards.ts";
import { trainerOf } from "../../python.ts";
import type { PythonExpression } from "../../../../text/python/expression.ts";
import { trlRule } from "../../trlRule.ts";

const wanted = ["prompt_ids", "completion_ids", "logprobs"];

export const rolloutFunction = trlRule({
  id: "trl-rollout-function",
  title: "Rollout function lacks a key",
  why: "A `rollout_func` returns a dictionary with `prompt_ids`, `completion_ids` and `logprobs`, a list for each prompt: `GRPOTrainer` (trl/trainer/grpo_trainer.py) refuses others at the first generation, since TRL 0.29. Gradus reads functions of the same file whose dictionary is a literal.",
  check(model) {
    const trainer = trainerOf(model);
    const name = trainer?.get("rollout_func");
    const returns = name?.kind === "name" ? functionsIn(model).get(name.name)?.returns : undefined;
    if (trainer === undefined || returns === undefined || !model.since("0.29.0")) return [];
    return returns.flatMap((value) => {
      const left = missing(value);
      const message = `The rollout function returns no ${left.map((key) => `\`${key}\``).join(", no ")}: TRL refuses its result.`;
      if (left.length === 0) return [];
      return {
        at: trainer.place(value, "rollout_func"),
        message,
        related: [trainer.setting("rollout_func")],
      };
    });
  },
});

const missing = (value: PythonExpression): string[] => {
  if (value.kind !== "dict" || value.spreads.length > 0) return [];
  const keys = value.entries.map(({ key }) => (key.kind === "value" ? key.value : undefined));
  return keys.includes(undefined) ? [] : wanted.filter((key) => !keys.includes(key));
};
