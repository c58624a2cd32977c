import { changes } from "../../../../rules/multiples.ts";
import { rewarded } from "../../../../releases/programs/trl.ts";
import { trlRule } from "../../trlRule.ts";

export const groupSize = trlRule({
  id: "trl-group-size",
  trees: rewarded,
  title: "Group of one",
  why: "A completion is compared with the others of its prompt; alone, its advantage is always zero. `GRPOConfig.__post_init__` (trl/trainer/grpo_config.py) refuses fewer than two.",
  check(model) {
    const at = model.written("num_generations");
    const size = model.number("num_generations");
    if (at === undefined || size === undefined || size >= 2) return [];
    const message = `\`num_generations\` is ${size}: with fewer than 2 completions of a prompt there is nothing to compare, and TRL refuses it.`;
    return [{ at, message, fixes: changes(at, [2]) }];
  },
});
