/** verl's advantage estimators as baselines, scales and what surrounds them. */
import type { Json, JsonObject } from "../../../../../shared/lib/json.ts";
import { criticBaseline } from "../../../lens/critic.ts";
import type { ConfigDraft } from "../../../lens/configDraft.ts";
import type { Settings } from "../../../lens/settings.ts";
import { bounds } from "./correction.ts";

const actor = "actor_rollout_ref.actor";
const correction = "algorithm.rollout_correction";

/** A rollout without a scored sibling keeps its reward in most of verl's estimators. */
const single = "reward";
const groupMean: JsonObject = { use: "group_mean", single };

export function advantage(settings: Settings, draft: ConfigDraft): void {
  const name = settings.text("algorithm.adv_estimator") ?? "gae";
  const chosen = estimators[name]?.(settings);
  // What the chosen estimator does not read changes nothing.
  for (const key of ["gamma", "lam", "norm_adv_by_std_in_grpo"]) settings.get(`algorithm.${key}`);
  if (chosen === undefined) {
    settings.refuse(
      "algorithm.adv_estimator",
      "verl does not define this estimator; group_mean is used instead",
    );
    draft.set("advantage", { baseline: groupMean, scale: "none" });
    return;
  }
  draft.set("advantage", chosen);
  if (settings.flag("algorithm.use_kl_in_reward") && name === "gdpo")
    settings.refuse(
      "algorithm.use_kl_in_reward",
      "verl's gdpo reads the reward's parts, so it never reads this penalty",
    );
  if (settings.flag("algorithm.use_pf_ppo"))
    settings.refuse(
      "algorithm.use_pf_ppo",
      "Gradus does not draw rollouts again by their reward: see the `replay` block",
    );
  for (const key of ["reweight_method", "weight_pow"]) settings.get(`algorithm.pf_ppo.${key}`);
}

const groupStd = (settings: Settings): Json =>
  settings.peek("algorithm.norm_adv_by_std_in_grpo") === false
    ? (settings.get("algorithm.norm_adv_by_std_in_grpo"), "none")
    : (settings.get("algorithm.norm_adv_by_std_in_grpo"), { use: "group_std", epsilon: 1e-6, single: "one" });
const gamma = (settings: Settings): number => settings.need("algorithm.gamma");

const grpo = (settings: Settings): JsonObject => ({ baseline: groupMean, scale: groupStd(settings) });

const estimators: Readonly<Record<string, (settings: Settings) => JsonObject>> = {
  gae: (settings) => ({
    baseline: criticBaseline(settings.need("algorithm.lam")),
    scale: "none",
    level: "token",
    gamma: gamma(settings),
    whiten: "tokens",
  }),
  grpo,
  grpo_vectorized: grpo,
  grpo_passk: (settings) => ({ baseline: "best_minus_second", scale: groupStd(settings) }),
  reinforce_plus_plus: (settings) => ({
    baseline: "none",
    scale: "none",
    level: "token",
    gamma: gamma(settings),
    whiten: "tokens",
  }),
  reinforce_plus_plus_baseline: () => ({ baseline: groupMean, scale: "none", whiten: "tokens" }),
  remax: () => ({ baseline: "greedy", scale: "none", level: "token", returns: "before" }),
  rloo: () => ({ baseline: { use: "leave_one_out", single }, scale: "none" }),
  rloo_vectorized: () => ({ baseline: { use: "leave_one_out", single: "zero" }, scale: "none" }),
  opo: () => ({ baseline: { use: "opo", single }, scale: "none" }),
  gpg: () => ({ baseline: groupMean, scale: "nonzero_share" }),
  optimal_token_baseline: (settings) => optimalTokenBaseline(settings, "position"),
  tir_optimal_token_baseline: (settings) => optimalTokenBaseline(settings, "trained"),
  gdpo: (settings) => ({
    baseline: groupMean,
    scale: groupStd(settings),
    per_source: true,
    whiten: "tokens",
  }),
};

function optimalTokenBaseline(settings: Settings, align: string): JsonObject {
  settings.get(`${actor}.calculate_sum_pi_squared`);
  const weights = settings.peek(`${correction}.rollout_is`);
  const threshold = settings.peek(`${correction}.rollout_is_threshold`);
  return {
    baseline: {
      use: "optimal_token_baseline",
      align,
      single,
      ...(typeof weights === "string" ? { importance: weights, cap: bounds(threshold).high } : {}),
    },
    scale: "none",
    level: "token",
  };
}
