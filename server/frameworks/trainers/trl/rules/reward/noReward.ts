import type { RuleDiagnostic, RuleModel } from "../../../../rules/rule.ts";
import { nearest } from "../../../../../lib/suggest.ts";
import { startsOwnProgram } from "../../batch.ts";
import { trainerOf } from "../../python.ts";
import { ownRewards, rewardsOf } from "../../rewards.ts";
import { rewarded, trainerOfTree } from "../../../../releases/programs/trl.ts";
import { trlRule } from "../../trlRule.ts";

export const noReward = trlRule({
  id: "trl-no-reward",
  trees: rewarded,
  title: "No reward",
  why: "Rewards come from reward functions, a reward model, or an environment with `get_reward`. `GRPOTrainer.__init__` (trl/trainer/grpo_trainer.py) refuses to train without one. `trl grpo` finds a reward function by one of its own names or by the dotted path of a module and its function, from the folder in which it starts: trl/scripts/grpo.py.",
  check: (model) => [...absent(model), ...unfound(model)],
});

/** Not decidable for a YAML file alone: the command line may add what it lacks. */
function absent(model: RuleModel): RuleDiagnostic[] {
  const { incomplete } = model.document;
  if (startsOwnProgram(model) && !incomplete && model.written("model_name_or_path") !== undefined) {
    const none = ["reward_funcs", "reward_model_name_or_path"].every((key) => model.value(key) === null);
    return none
      ? [
          {
            at: undefined,
            message:
              "There is no reward: set `--reward_funcs` to a function, or `--reward_model_name_or_path` to a model.",
          },
        ]
      : [];
  }
  const trainer = trainerOf(model);
  if (
    trainer === undefined ||
    !trainer.complete ||
    trainer.has("environment_factory") ||
    trainer.has("rollout_func")
  )
    return [];
  const value = trainer.get("reward_funcs");
  const none = !trainer.has("reward_funcs") || (value?.kind === "list" && value.items.length === 0);
  return none
    ? [
        {
          at: trainer.setting("reward_funcs"),
          message: `There is no reward: pass \`reward_funcs\` to \`${trainerOfTree(model.document.tree)?.trainer ?? "GRPOTrainer"}\`.`,
        },
      ]
    : [];
}

function unfound(model: RuleModel): RuleDiagnostic[] {
  if (model.document.form === "python") return [];
  const own = model.since("0.26.0")
    ? ownRewards
    : ownRewards.filter((name) => name !== "reasoning_accuracy_reward");
  const { at, rewards } = rewardsOf(model) ?? { at: undefined, rewards: [] };
  if (at?.key !== "reward_funcs" || (model.document.form === "script" && !startsOwnProgram(model))) return [];
  const judge = model.text("reward_model_name_or_path");
  return rewards
    .filter(
      ({ written }, i) => !(i === 0 && written === judge) && !written.includes(".") && !own.includes(written),
    )
    .map(({ written }) => {
      const meant = nearest(written, own);
      const hint = meant === undefined ? "" : ` Did you mean \`${meant}\`?`;
      const message = `\`trl ${model.document.tree ?? "grpo"}\` has no reward \`${written}\`, and it is not the path of a module and its function (\`my_rewards.${written}\`).${hint}`;
      return { at, message, severity: startsOwnProgram(model) ? "error" : "warning" };
    });
}
