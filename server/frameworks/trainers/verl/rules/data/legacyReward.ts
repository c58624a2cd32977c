import type { Json } from "../../../../../../shared/lib/json.ts";
import { rowsOf } from "../../dataset.ts";
import { inRelease } from "../../inRelease.ts";
import { rewardFunction } from "../../reward.ts";
import { newName, unreadSince } from "../../oldRewardKeys.ts";
import { verlRule } from "../../rule.ts";
import type { Setting } from "../../../../text/document.ts";
import type { Fix } from "../../../../../config/check/diagnostic.ts";
import { replace } from "../../../../../config/check/report.ts";
import type { RuleDiagnostic, RuleModel } from "../../../../rules/rule.ts";

/** A launch script has the whole key, which can be renamed; a map in a file must be moved by hand. */
function renamed(model: RuleModel, { keyRange, shared }: Setting, to: string): Fix | undefined {
  if (model.document.form !== "script" || shared === true) return undefined;
  return replace(keyRange, to, `Rename to \`${to}\``);
}

/** What the run does instead, where that decides what it trains on; undefined for what only goes with it. */
function consequence(model: RuleModel, key: string, value: Json): string | undefined {
  const named = typeof value === "string" && value !== "" ? value : undefined;
  if (model.text("reward.reward_manager.source") === "importlib") return undefined;
  switch (key) {
    case "custom_reward_function.path":
      return named === undefined ? undefined : `This run trains on ${rewardInForce(model)}, not on ${named}`;
    case "reward_model.reward_manager":
      return `This run scores with the reward manager \`${model.text("reward.reward_manager.name") ?? "naive"}\`, not \`${named ?? ""}\``;
    case "reward_model.enable":
      return value === true ? "This run scores without its reward model" : undefined;
    case "sandbox_fusion.url":
      return named === undefined ? undefined : `This run sends no code to the sandbox at ${named}`;
    default:
      return undefined;
  }
}

function rewardInForce(model: RuleModel): string {
  const own = rewardFunction(model);
  if (own !== undefined) return own.path;
  const named = (rowsOf(model)?.rows ?? []).flatMap(({ data_source: source }) =>
    typeof source === "string" && source !== "" ? [source] : [],
  );
  const sources = [...new Set(named)].slice(0, 3);
  return `verl's own reward for ${sources.length === 0 ? "the data's `data_source`" : sources.join(", ")}`;
}

function diagnostics(model: RuleModel, setting: Setting): RuleDiagnostic[] {
  const { key, value, sign } = setting;
  if (value === null || sign === "~" || model.fact(key) === undefined) return [];
  const to = newName(key);
  if (to === undefined || model.written(key) !== setting) return [];
  // A launch for releases before and after sets both.
  if (model.written(to) !== undefined && model.value(to) === value) return [];
  const instead = value === undefined ? undefined : consequence(model, key, value);
  const why = `verl ${model.document.version.text} accepts \`${key}\` but never reads it: use \`${to}\`.`;
  return inRelease(model, {
    at: setting,
    message: instead === undefined ? why : `${instead}: ${why}`,
    severity: instead === undefined ? "warning" : "error",
    since: "0.9",
    fixes: [renamed(model, setting, to)],
  });
}

export const legacyReward = verlRule({
  id: "verl-legacy-reward",
  title: "Reward setting no longer read",
  why: "verl's tree still has the sections `custom_reward_function`, `reward_model` and `sandbox_fusion` (verl/trainer/config/legacy_reward_impl.yaml), so Hydra takes them. Up to 0.8 `migrate_legacy_reward_impl` copied them below `reward`. Since 0.9 `main` of verl/trainer/main_ppo.py no longer calls it, so verl ignores them and uses its own reward for the dataset. What changes the reward that trains is an error where the release is known, and a note where nothing names one.",
  since: unreadSince,
  check: (model) => model.document.settings.flatMap((setting) => diagnostics(model, setting)),
});
