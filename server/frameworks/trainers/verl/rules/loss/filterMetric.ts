import { setTo } from "../../fixes.ts";
import { found, verlRule } from "../../rule.ts";
import { isV1 } from "../../shape.ts";
import { rewardFunction } from "../../reward.ts";
import { returnedKeys } from "../../python.ts";
import { listed } from "../../../../../lib/suggest.ts";
import type { RuleModel } from "../../../../rules/rule.ts";

const [enable, metric] = ["algorithm.filter_groups.enable", "algorithm.filter_groups.metric"];
/** Names that the recipes' trainers had for sums of the reward. */
const ofRecipes = ["seq_reward", "seq_final_reward", "score"];

/** The metrics that can filter a group; undefined if the reward function cannot be read. */
function available(model: RuleModel): readonly string[] | undefined {
  const always = model.since("0.9.1") ? ["reward"] : [];
  const own = rewardFunction(model);
  if (own === undefined) return [...always, "acc", "score"];
  const keys = own.source === undefined ? undefined : returnedKeys(own.source, own.name);
  if (keys === undefined) return undefined;
  return keys.length === 0 ? [...always, "acc"] : [...always, ...keys];
}

export const filterMetric = verlRule({
  id: "verl-filter-metric",
  title: "Unknown filter metric",
  why: "`_dapo_filtered_keys` (verl/trainer/ppo/v1/replay_buffer.py) looks `filter_groups.metric` up in the result of the reward function: a number is `acc`, a dict keeps its own keys, and since 0.9.1 `reward` is the sum that trains. `seq_reward` and `seq_final_reward` were names of the recipes. A missing metric ends the run after the first generation. verl drops a group only if all its values are equal, so a shaped reward, whose values hardly ever are, filters nothing.",
  since: "0.9.0",
  check(model) {
    const name = model.text(metric);
    if (model.flag(enable) !== true || name === undefined || !isV1(model)) return [];
    if (model.text("trainer.v1.sampler.custom_sampler.path") !== undefined) return [];
    const known = available(model);
    if (known?.includes(name) ?? !ofRecipes.slice(0, 2).includes(name)) return [];
    const best = model.since("0.9.1") ? "reward" : "acc";
    const there =
      known === undefined ? "The reward function's dict must have that key" : `There is ${listed(known)}`;
    const message = `No reward has \`${name}\`: verl stops after the first generation. ${there}.`;
    return found(model, [metric, enable], message, {
      severity: known === undefined ? "warning" : "error",
      fixes: [setTo(model, metric, best)],
    });
  },
});
