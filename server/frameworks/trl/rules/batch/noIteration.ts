import { changes } from "../../../multiples.ts";
import type { ForeignRule } from "../../../rule.ts";
import { rewarded } from "../../trainers.ts";

export const noIteration: ForeignRule = {
  id: "trl-no-iteration",
  framework: "trl",
  trees: rewarded,
  severity: "warning",
  title: "Completions that are used no times",
  why: "`num_iterations` is μ of the GRPO paper (DeepSeekMath): how often each generation is trained on. `GRPOTrainer._get_train_sampler` (trl/trainer/grpo_trainer.py) repeats every batch that many times; with 0 it repeats none, and training ends without a step and without an error.",
  check(model) {
    const at = model.written("num_iterations");
    const count = model.number("num_iterations");
    if (at === undefined || count === undefined || count >= 1) return [];
    const message = `\`num_iterations\` is ${count}: every generation is used no times, so nothing is trained. Once is 1, the default.`;
    return [{ at, message, fixes: changes(at, [1]) }];
  },
};
