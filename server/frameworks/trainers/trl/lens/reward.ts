/** TRL's rewards: functions of the training script, those that TRL ships, and dotted paths of a configuration. */
import { basename } from "node:path";
import type { Json, JsonObject } from "../../../../../shared/lib/json.ts";
import type { ScriptReward } from "../../../readers/trl/scriptRewards.ts";
import { fields, type ConfigDraft } from "../../../lens/configDraft.ts";
import { pythonUse } from "../../../lens/paths.ts";
import type { Settings } from "../../../lens/settings.ts";

interface Term {
  readonly name: string;
  readonly term: JsonObject;
}

/** trl/rewards/format_rewards.py, whose pattern the whole response has to match. */
const think = { use: "format", pattern: "<think>(?!.*<think>).*</think>.*" };

/** Reward functions that `trl grpo` finds by their names. */
const shipped: Readonly<Record<string, JsonObject>> = {
  accuracy_reward: { use: "exact_match" },
  reasoning_accuracy_reward: { use: "exact_match" },
  think_format_reward: think,
  get_soft_overlong_punishment: { use: "length", shape: "soft_overlong", limit: 1280, cache: 256 },
};

export function rewards(settings: Settings, draft: ConfigDraft): void {
  const weights = settings.list("reward_weights")?.map(Number);
  const { rewards: own } = settings;
  const terms =
    own === undefined ? configured(settings, weights) : own.map((reward) => termOf(settings, reward));
  const weighted = terms.map(({ name, term }, i): [string, JsonObject] => [
    name,
    { ...term, ...fields({ weight: weights?.[i] }) },
  ]);
  // One that is left out keeps its place among the weights.
  const kept = weighted.filter(([, term]) => "use" in term);
  if (kept.length === 0)
    settings.replaceReward(
      "reward_funcs",
      "none of the rewards can be read, so `exact_match` is a placeholder: write the terms",
      null,
    );
  const deciding = comparing(own ?? [], kept);
  draft.set("reward", {
    terms: Object.fromEntries(kept.length > 0 ? kept : [["reward", { use: "exact_match" }]]),
    ...(deciding.length === 0 ? {} : { success: { terms: deciding } }),
  });
  if (settings.text("reward_model_name_or_path") !== undefined)
    settings.refuse("reward_model_name_or_path", "this version has no reward-model term");
}

/**
 * TRL sums its rewards and knows no success. A function that reads a column of the data compares with it; where the first
 * looks at the completions alone, those decide. Empty: the terms' order does.
 */
function comparing(
  rewards: readonly ScriptReward[],
  kept: readonly (readonly [string, JsonObject])[],
): string[] {
  const names = kept.map(([name]) => name);
  const found = rewards
    .filter((one) => one.kind === "function" && one.columns !== undefined)
    .map(({ name }) => name)
    .filter((name) => names.includes(name));
  return found[0] === names[0] ? [] : found;
}

/** As a configuration names them: TRL's own, and `module.function` for the user's. */
function configured(settings: Settings, weights: readonly number[] | undefined): Term[] {
  const written = settings.list("reward_funcs")?.map(String);
  const names =
    written ??
    Array.from({ length: weights?.length ?? 1 }, (_, i) => (i === 0 ? "reward" : `reward_${i + 1}`));
  if (written === undefined)
    settings.replaceReward(
      "reward_funcs",
      "the reward functions are in TRL's training script; `exact_match` is a placeholder: write the terms",
      null,
    );
  return names.map((name) => {
    const known = shipped[name];
    if (known !== undefined) {
      if (name.includes("accuracy"))
        settings.refuse("reward_funcs", `${name} compares mathematics; exact_match compares texts`, name);
      return { name, term: known };
    }
    const dot = name.lastIndexOf(".");
    if (dot < 0) return { name, term: { use: "exact_match" } };
    const file = `./${name.slice(0, dot).replace(/\./g, "/")}.py`;
    const last = name.slice(dot + 1);
    return { name: last, term: { use: pythonUse(settings.file, file, last) } };
  });
}

function termOf(settings: Settings, reward: ScriptReward): Term {
  const { name } = reward;
  const say = (reason: string): void => settings.refuse("reward_funcs", reason, name);
  if (reward.kind === "lost") {
    say(`it is left out: ${reward.reason}`);
    return { name, term: {} };
  }
  const same =
    reward.shipped === undefined
      ? undefined
      : builtIn(reward.shipped, reward.kind === "made" ? reward.args : {});
  if (same !== undefined) {
    say(`${reward.shipped ?? name} is TRL's own: the built-in \`${String(same["use"])}\` scores the same`);
    return { name, term: same };
  }
  if (reward.kind === "made") {
    say(
      `it is left out: ${reward.shipped} is TRL's own and no built-in term does exactly that; give what it makes a name at the top of the script`,
    );
    return { name, term: {} };
  }
  const script = basename(settings.file);
  if (reward.shipped !== undefined)
    say(
      `${reward.shipped} is TRL's own and no built-in term does exactly that: ${script} imports it, so it runs where TRL and what it needs are installed`,
    );
  return { name, term: { use: reward.use, ...fields({ args: reward.args }) } };
}

/** The term that scores exactly as a function of TRL does. */
function builtIn(name: string, args: JsonObject): JsonObject | undefined {
  if (name === "think_format_reward") return think;
  if (name !== "get_soft_overlong_punishment") return undefined;
  const [limit, cache] = [args["max_completion_len"] ?? args["0"], args["soft_punish_cache"] ?? args["1"]];
  return isNumber(limit) && isNumber(cache)
    ? { use: "length", shape: "soft_overlong", limit, cache }
    : undefined;
}

const isNumber = (value: Json | undefined): value is number => typeof value === "number";
