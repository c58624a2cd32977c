import { pythonProblem } from "../../../../../lib/python/syntax.ts";
import { nearest } from "../../../../../lib/suggest.ts";
import { setTo } from "../../fixes.ts";
import { found, verlRule } from "../../rule.ts";
import { functionsOf, namesOf, returnedKeys } from "../../python.ts";
import { missingPython, unparsed } from "../../../../rules/missingData.ts";
import { rewardFunction as ownFunction, type RewardFunction } from "../../reward.ts";
import type { RuleDiagnostic, RuleModel } from "../../../../rules/rule.ts";

function missing(model: RuleModel, { key, name, path, source = "" }: RewardFunction): RuleDiagnostic[] {
  const bound = namesOf(source);
  if (bound.has(name) || bound.has("*")) return [];
  const nameKey = key.replace(/path$/, "name");
  const functions = functionsOf(source).map((one) => one.name);
  const meant = nearest(name, functions) ?? (functions.length === 1 ? functions[0] : undefined);
  const message = `${path} defines no \`${name}\`${model.written(nameKey) === undefined ? ", the name that verl expects" : ""}.${meant === undefined ? "" : ` Did you mean \`${meant}\`?`}`;
  return found(model, [nameKey, key], message, {
    fixes: [meant === undefined ? undefined : setTo(model, nameKey, meant)],
  });
}

function scoreless(model: RuleModel, { key, name, path, source = "" }: RewardFunction): RuleDiagnostic[] {
  const keys = returnedKeys(source, name);
  if (keys === undefined || keys.length === 0 || keys.includes("score")) return [];
  const message = `\`${name}\` of ${path} returns a dict without \`score\`, the reward: verl stops at the first rollout.`;
  return found(model, [key], message);
}

function nullName(model: RuleModel): RuleDiagnostic[] {
  const section = model.since("0.9.0") ? "reward.custom_reward_function" : "custom_reward_function";
  if (model.text(`${section}.path`) === undefined || model.value(`${section}.name`) !== null) return [];
  const message = "The reward function's `name` is null, but verl asserts that it has one.";
  return found(model, [`${section}.name`], message, {
    fixes: [setTo(model, `${section}.name`, "compute_score")],
  });
}

/** Its file is loaded when the workers start. */
function absent(model: RuleModel, { key }: RewardFunction): RuleDiagnostic[] {
  return missingPython(model, key).map((diagnostic) => ({
    ...diagnostic,
    message: `${diagnostic.message} verl loads the reward from it and stops without it.`,
  }));
}

function pathless(model: RuleModel): RuleDiagnostic[] {
  const section = model.since("0.9.0") ? "reward.custom_reward_function" : "custom_reward_function";
  const name = model.text(`${section}.name`);
  if (model.value(`${section}.path`) !== null || name === undefined || name === "compute_score") return [];
  const message = `\`${name}\` is never called, because \`${section}.path\` names no file: verl scores by \`data_source\`.`;
  return found(model, [`${section}.name`], message, { severity: "warning" });
}

export const rewardFunction = verlRule({
  id: "verl-reward-function",
  title: "Reward function missing or without a score",
  why: "`get_custom_reward_fn` (verl/trainer/ppo/reward.py) loads the file and takes the function by its name, `compute_score` by default. A reward manager uses the result as the reward, or its `score` if it is a dict (`run_single` of verl/experimental/reward_loop/reward_manager/naive.py). Gradus reads files near the configuration and runs nothing.",
  check(model) {
    const own = ownFunction(model);
    const nameless = nullName(model);
    if (nameless.length > 0) return nameless;
    if (own === undefined) return pathless(model);
    if (own.source === undefined) return absent(model, own);
    const problem = pythonProblem(own.source);
    if (problem !== undefined)
      return found(model, [own.key], `${unparsed(own.path, problem)}: verl stops when it loads the reward.`);
    const unnamed = missing(model, own);
    return unnamed.length > 0 ? unnamed : scoreless(model, own);
  },
});
