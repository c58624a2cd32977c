/** verl's advantage estimators, and what surrounds them. */
import { objectOf, type JsonObject } from "../../../../../shared/lib/json.ts";
import type { StageBody } from "../../../../core/config/resolved.ts";
import { readAdvantage, writeAdvantage, type AdvantageLens } from "../../../lens/advantage.ts";
import { flag, key } from "../../../lens/holes.ts";
import type { ConfigDraft } from "../../../lens/configDraft.ts";
import { criticBaseline } from "../../../lens/critic.ts";
import type { Settings } from "../../../lens/settings.ts";
import { bounds } from "./correction.ts";
import type { VerlDraft } from "./draft.ts";
import { actor, correction } from "./keys.ts";

const chooses = "algorithm.adv_estimator";
/** A rollout without a scored sibling keeps its reward in most of verl's estimators. */
const single = "reward";
const groupMean: JsonObject = { use: "group_mean", single };
const groupStd = flag(
  "algorithm.norm_adv_by_std_in_grpo",
  { use: "group_std", epsilon: 1e-6, single: "one" },
  "none",
);
const byToken: JsonObject = {
  scale: "none",
  level: "token",
  gamma: key("algorithm.gamma"),
  whiten: "tokens",
};
const optimal = (align: string): JsonObject => ({
  baseline: { use: "optimal_token_baseline", align, single },
  scale: "none",
  level: "token",
});

const lens: AdvantageLens = {
  instead: "group_mean",
  readAs: { grpo_vectorized: "grpo" },
  estimators: {
    gae: { baseline: criticBaseline(key("algorithm.lam")), ...byToken },
    gdpo: { baseline: groupMean, scale: groupStd, per_source: true, whiten: "tokens" },
    reinforce_plus_plus_baseline: { baseline: groupMean, scale: "none", whiten: "tokens" },
    grpo: { baseline: groupMean, scale: groupStd },
    gpg: { baseline: groupMean, scale: "nonzero_share" },
    rloo: { baseline: { use: "leave_one_out", single }, scale: "none" },
    rloo_vectorized: { baseline: { use: "leave_one_out", single: "zero" }, scale: "none" },
    grpo_passk: { baseline: "best_minus_second", scale: groupStd },
    reinforce_plus_plus: { baseline: "none", ...byToken },
    remax: { baseline: "greedy", scale: "none", level: "token", returns: "before" },
    opo: { baseline: { use: "opo", single }, scale: "none" },
    optimal_token_baseline: optimal("position"),
    tir_optimal_token_baseline: optimal("trained"),
  },
};

export function readVerlAdvantage(settings: Settings, draft: ConfigDraft): void {
  const name = settings.text(chooses) ?? "gae";
  const chosen = readAdvantage(lens, name, settings);
  // What the chosen estimator does not read changes nothing.
  for (const one of ["gamma", "lam", "norm_adv_by_std_in_grpo"]) settings.get(`algorithm.${one}`);
  if (chosen === undefined) {
    settings.refuse(chooses, "verl does not define this estimator; group_mean is used instead");
    draft.set("advantage", { baseline: groupMean, scale: "none" });
    return;
  }
  draft.set("advantage", name.endsWith("optimal_token_baseline") ? weighted(settings, chosen) : chosen);
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
  for (const one of ["reweight_method", "weight_pow"]) settings.get(`algorithm.pf_ppo.${one}`);
}

/** The optimal baseline's weights are those of the correction. */
function weighted(settings: Settings, block: JsonObject): JsonObject {
  settings.get(`${actor}.calculate_sum_pi_squared`);
  const weights = settings.peek(`${correction}.rollout_is`);
  if (typeof weights !== "string") return block;
  const { high: cap } = bounds(settings.peek(`${correction}.rollout_is_threshold`));
  return { ...block, baseline: { ...objectOf(block["baseline"]), importance: weights, cap } };
}

/** @returns the estimator's name */
export function writeVerlAdvantage({ advantage: block }: StageBody, draft: VerlDraft): string {
  const name = writeAdvantage(lens, block, draft);
  const { params } = block.baseline;
  const optimal = name === "optimal_token_baseline";
  draft.set(chooses, optimal && params["align"] === "trained" ? `tir_${name}` : name);
  if (!optimal) return name;
  draft.set(`${actor}.calculate_sum_pi_squared`, true);
  const { importance, cap } = params;
  if (importance === "none") return name;
  // Only verl's correction has such weights.
  draft.set(`${correction}.rollout_is`, String(importance));
  draft.set(`${correction}.rollout_is_threshold`, String(cap));
  return name;
}
