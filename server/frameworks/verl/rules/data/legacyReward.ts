import { found, verlRule } from "../../rule.ts";
import type { Setting } from "../../../document.ts";
import type { Fix } from "../../../../config/check/diagnostic.ts";
import { replace } from "../../../../config/check/report.ts";
import type { RuleModel } from "../../../rule.ts";

/** The new keys of the old sections' settings. */
const now: Readonly<Record<string, string>> = {
  "custom_reward_function.path": "reward.custom_reward_function.path",
  "custom_reward_function.name": "reward.custom_reward_function.name",
  "reward_model.num_workers": "reward.num_workers",
  "reward_model.reward_manager": "reward.reward_manager.name",
  "reward_model.enable": "reward.reward_model.enable",
  "reward_model.enable_resource_pool": "reward.reward_model.enable_resource_pool",
  "reward_model.n_gpus_per_node": "reward.reward_model.n_gpus_per_node",
  "reward_model.nnodes": "reward.reward_model.nnodes",
  "reward_model.model.path": "reward.reward_model.model_path",
  "reward_model.reward_loop_source": "reward.reward_manager.source",
  "reward_model.reward_loop_module_path": "reward.reward_manager.module.path",
  "reward_model.reward_loop_class_name": "reward.reward_manager.module.name",
};
const oldSection = /^(custom_reward_function|reward_model|sandbox_fusion)\./;

/** The old sections' keys with their new names; those of nested sections keep theirs. */
function newName(key: string): string | undefined {
  if (Object.hasOwn(now, key)) return now[key];
  if (key.startsWith("reward_model.rollout.")) return key.replace(/^reward_model/, "reward.reward_model");
  const moved = key
    .replace(/^custom_reward_function\.reward_kwargs/, "reward.custom_reward_function.reward_kwargs")
    .replace(/^reward_model\.reward_kwargs/, "reward.reward_kwargs")
    .replace(/^sandbox_fusion/, "reward.sandbox_fusion");
  return moved === key ? undefined : moved;
}

/** A launch script has the whole key, which can be renamed; a map in a file must be moved by hand. */
function renamed(model: RuleModel, { keyRange, shared }: Setting, to: string): Fix | undefined {
  if (model.document.form !== "script" || shared === true) return undefined;
  return replace(keyRange, to, `Rename to \`${to}\``);
}

export const legacyReward = verlRule({
  id: "verl-legacy-reward",
  title: "Reward setting no longer read",
  why: "verl's tree still has the sections `custom_reward_function`, `reward_model` and `sandbox_fusion` (verl/trainer/config/legacy_reward_impl.yaml), so Hydra takes them. Up to 0.8 `migrate_legacy_reward_impl` copied them below `reward`. Since 0.9 `main` of verl/trainer/main_ppo.py no longer calls it, so verl ignores them and uses its own reward for the dataset.",
  severity: "warning",
  since: "0.9.0",
  check: (model) =>
    model.document.settings.flatMap((setting) => {
      const { key, value, sign } = setting;
      if (!oldSection.test(key) || value === null || sign === "~" || model.fact(key) === undefined) return [];
      const to = newName(key);
      if (to === undefined || model.written(key) !== setting) return [];
      const message = `verl ${model.document.version.text} accepts \`${key}\` but never reads it: use \`${to}\`.`;
      return found(model, [key], message, { fixes: [renamed(model, setting, to)] });
    }),
});
