import { diagnosticAt } from "../../../rules/placed.ts";
import { rewarded } from "../../../releases/programs/trl.ts";
import { trlRule } from "../trlRule.ts";

export const completionsTable = trlRule({
  id: "trl-completions-table",
  trees: rewarded,
  severity: "info",
  title: "Completions logged for some steps only",
  why: "TRL keeps the completions of one generation in queues and writes them when it logs a step: `GRPOTrainer.log` in trl/trainer/grpo_trainer.py. With `logging_steps` above 1 it loses those of the generations between.",
  check(model) {
    const steps = model.number("logging_steps");
    const byStep = model.text("logging_strategy") ?? "steps";
    if (model.flag("log_completions") !== true || steps === undefined || steps <= 1 || byStep !== "steps")
      return [];
    const whole = Number.isInteger(steps) ? `one step in ${steps}` : "some steps";
    const message = `\`log_completions\` keeps the completions of ${whole} only: \`logging_steps\` is ${steps}${model.written("logging_steps") === undefined ? " by default" : ""}. Set it to 1 to keep all.`;
    return diagnosticAt(model, ["log_completions", "logging_steps"], message);
  },
});
