import { listed, nearest } from "../../../../../lib/suggest.ts";
import { setTo } from "../../fixes.ts";
import { found, namesPlugIn, verlRule } from "../../rule.ts";
import { functionsOf } from "../../python.ts";
import { managerKey, rewardFunction } from "../../reward.ts";
import type { RuleDiagnostic, RuleModel } from "../../../../rules/rule.ts";

const [source, modulePath] = ["reward.reward_manager.source", "reward.reward_manager.module.path"];

/** `@register` of verl/experimental/reward_loop/reward_manager, and before it of verl/workers/reward_manager. */
function managers(model: RuleModel): readonly string[] {
  const loop = ["naive", "dapo", "rate_limited", "remote"];
  if (model.since("0.9.0")) return [...loop, "gdpo"];
  const before = ["naive", "dapo", "batch", "prime"];
  if (!model.since("0.7.0")) return before;
  return [...before, "rate_limited", "remote", ...(model.since("0.7.1") ? ["gdpo"] : [])];
}

function unknown(model: RuleModel, key: string, name: string): RuleDiagnostic[] {
  const all = managers(model);
  // A file of rewards may register a manager of its own while it is loaded.
  if (all.includes(name) || rewardFunction(model) !== undefined || namesPlugIn(model)) return [];
  const meant = nearest(name, all);
  const message = `verl ${model.document.version.text} has no reward manager \`${name}\`. It has ${listed(all)}; your own needs \`source\` \`importlib\` and a path.`;
  return found(model, [key], message, {
    fixes: [meant === undefined ? undefined : setTo(model, key, meant)],
  });
}

function imported(model: RuleModel): RuleDiagnostic[] {
  if (model.value(modulePath) !== null) return [];
  const message =
    "`reward_manager.source` is `importlib`, but `reward_manager.module.path` names no file to import.";
  return found(model, [source], message);
}

function asynchronous(model: RuleModel, key: string): RuleDiagnostic[] {
  const own = rewardFunction(model);
  if (
    own?.source === undefined ||
    !functionsOf(own.source).some(({ name, isAsync }) => isAsync && name === own.name)
  )
    return [];
  const message = `The \`remote\` reward manager runs functions in separate processes and refuses \`async def ${own.name}\` of ${own.path}.`;
  return found(model, [key, own.key], message, { fixes: [setTo(model, key, "naive")] });
}

export const rewardManager = verlRule({
  id: "verl-reward-manager",
  title: "Unknown reward manager",
  why: "`RewardManagerConfig.__post_init__` (verl/workers/config/reward.py) and `resolve_reward_manager_cls` (verl/trainer/ppo/reward.py) look the name up among the registered ones, or in a file if `source` is `importlib`. `RemoteRewardManager` (verl/experimental/reward_loop/reward_manager/remote.py) refuses asynchronous functions.",
  check(model) {
    const key = managerKey(model);
    const [name, from] = [model.text(key), model.text(source)];
    if (from === "importlib") return imported(model);
    if (from !== undefined && from !== "register") {
      const message = `\`reward_manager.source\` is \`register\` or \`importlib\`, not \`${from}\`.`;
      return found(model, [source], message, { fixes: [setTo(model, source, "register")] });
    }
    if (name === undefined) return [];
    return [...unknown(model, key, name), ...(name === "remote" ? asynchronous(model, key) : [])];
  },
});
