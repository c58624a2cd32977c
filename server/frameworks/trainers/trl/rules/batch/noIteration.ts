import { changes } from "../../../../rules/multiples.ts";
import { rewarded } from "../../../../releases/programs/trl.ts";
import { trlRule } from "../../trlRule.ts";

export const noIteration = trlRule({
  id: "trl-no-iteration",
  trees: rewarded,
  severity: "warning",
  title: "Completions never trained on",
  why: "`num_iterations` is μ of the GRPO paper (DeepSeekMath): how often each generation trains. `GRPOTrainer._get_train_sampler` (trl/trainer/grpo_trainer.py) repeats every batch that many times; with 0 it yields none, and training ends without a step and without an error.",
  check(model) {
    const at = model.written("num_iterations");
    const count = model.number("num_iterations");
    if (at === undefined || count === undefined || count >= 1) return [];
    const message = `\`num_iterations\` is ${count}, so no generation ever trains: use 1, the default, or more.`;
    return [{ at, message, fixes: changes(at, [1]) }];
  },
});
