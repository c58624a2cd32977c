import { setTo } from "../fixes.ts";
import { found, verlRule } from "../rule.ts";
import type { RuleDiagnostic, RuleModel } from "../../../rules/rule.ts";

/** Sections that may have GPUs of their own, and the flag that gives them some. */
const pools = [
  { flag: "reward.reward_model.enable_resource_pool", section: "reward.reward_model", who: "reward model" },
  { flag: "distillation.enabled", section: "distillation", who: "teacher" },
];

const empty = (model: RuleModel, flag: string, section: string, who: string): RuleDiagnostic[] =>
  ["n_gpus_per_node", "nnodes"].flatMap((name) => {
    const key = `${section}.${name}`;
    const count = model.number(key);
    if (count === undefined || count > 0) return [];
    const usual = name === "nnodes" ? 1 : 8;
    const message = `The ${who} needs its own GPUs, but \`${key}\` is ${count}${model.written(key) === undefined ? " by default" : ""}: set it to at least 1.`;
    return found(model, [key, flag], message, { fixes: [setTo(model, key, usual)] });
  });

export const resourcePools = verlRule({
  id: "verl-resource-pool",
  title: "Empty resource pool",
  why: "A reward model with `enable_resource_pool` and the teachers of a distillation have their own GPUs; `_init_resource_pool_mgr` (verl/trainer/ppo/v1/trainer_base.py; `TaskRunner.init_resource_pool_mgr` before) refuses 0 nodes, the default, or 0 GPUs.",
  since: "0.7.1",
  check: (model) =>
    pools
      .filter(({ flag }) => model.flag(flag) === true)
      .flatMap(({ flag, section, who }) => empty(model, flag, section, who)),
});
