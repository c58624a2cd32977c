import { changes } from "../../../../rules/multiples.ts";
import { openrlhfRule } from "../../openrlhfRule.ts";

const grouped = ["rloo", "reinforce_baseline", "group_norm", "dr_grpo"];

export const groupSize = openrlhfRule({
  id: "openrlhf-group-size",
  title: "Group of one",
  why: "`rloo`, `reinforce_baseline`, `group_norm` and `dr_grpo` compare a response with the others to its prompt. openrlhf/cli/train_ppo_ray.py refuses them with `n_samples_per_prompt` 1, the default.",
  check(flags) {
    const [estimator, responses] = [
      flags.text("algo.advantage.estimator"),
      flags.number("rollout.n_samples_per_prompt"),
    ];
    if (estimator === undefined || !grouped.includes(estimator) || responses === undefined || responses > 1)
      return [];
    const name = flags.name("rollout.n_samples_per_prompt");
    const written = flags.written("rollout.n_samples_per_prompt");
    const message = `\`${estimator}\` compares the responses to a prompt, and \`${name}\` is ${responses}${written === undefined ? " by default" : ""}: OpenRLHF refuses it. Use 2 or more; 8 is usual.`;
    return flags.diagnostic(["rollout.n_samples_per_prompt", "algo.advantage.estimator"], message, {
      fixes: changes(written, [2, 8]),
    });
  },
});
