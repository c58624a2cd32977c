import type { ForeignRule } from "../../rule.ts";
import { placed } from "../../written.ts";
import { rewarded } from "../trainers.ts";

export const completionsTable: ForeignRule = {
  id: "trl-completions-table",
  framework: "trl",
  trees: rewarded,
  severity: "info",
  title: "Completions that are logged for some steps only",
  why: "Completions wait in queues as long as one generation, and are written when a step is logged: `GRPOTrainer.log` in trl/trainer/grpo_trainer.py. With `logging_steps` above 1, those of the generations between are lost.",
  check(model) {
    const steps = model.number("logging_steps");
    const byStep = model.text("logging_strategy") ?? "steps";
    if (model.flag("log_completions") !== true || steps === undefined || steps <= 1 || byStep !== "steps")
      return [];
    const whole = Number.isInteger(steps) ? `one step in ${steps}` : "some steps";
    const message = `\`log_completions\` keeps the completions of ${whole} only: \`logging_steps\` is ${steps}${model.written("logging_steps") === undefined ? " by default" : ""}. With 1, all are kept.`;
    return [{ message, ...placed(model, "log_completions", "logging_steps") }];
  },
};
