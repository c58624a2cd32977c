/** SkyRL's advantage estimators as baselines, scales and what surrounds them. */
import type { Json, JsonObject } from "../../../../../shared/lib/json.ts";
import { criticBaseline } from "../../../lens/critic.ts";
import type { ConfigDraft } from "../../../lens/configDraft.ts";
import type { Settings } from "../../../lens/settings.ts";

const algorithm = "trainer.algorithm";
/** A rollout without a scored sibling keeps its reward. */
const groupMean: JsonObject = { use: "group_mean", single: "reward" };

export function advantage(settings: Settings, draft: ConfigDraft): void {
  const name = settings.text(`${algorithm}.advantage_estimator`) ?? "grpo";
  const chosen = estimators[name]?.(settings);
  // What the chosen estimator does not read changes nothing.
  for (const key of ["gamma", "lambd", "grpo_norm_by_std"]) settings.get(`${algorithm}.${key}`);
  if (chosen === undefined)
    settings.refuse(
      `${algorithm}.advantage_estimator`,
      "SkyRL 0.3.0 does not define this estimator; group_mean is used instead",
    );
  draft.set("advantage", {
    ...(chosen ?? { baseline: groupMean, scale: "none" }),
    ...normalised(settings, chosen?.["whiten"] !== undefined),
  });
}

const estimators: Readonly<Record<string, (settings: Settings) => JsonObject>> = {
  grpo: (settings) => ({ baseline: groupMean, scale: groupStd(settings) }),
  maxrl: () => ({ baseline: groupMean, scale: { use: "mean_reward", epsilon: 1e-6 } }),
  rloo: () => ({ baseline: { use: "leave_one_out", single: "zero" }, scale: "none" }),
  gae: (settings) => ({
    baseline: criticBaseline(settings.need(`${algorithm}.lambd`)),
    scale: "none",
    level: "token",
    gamma: settings.need(`${algorithm}.gamma`),
    whiten: "tokens",
  }),
  "reinforce++": (settings) => ({
    baseline: "none",
    scale: "none",
    level: "token",
    gamma: settings.need(`${algorithm}.gamma`),
    whiten: "tokens",
  }),
};

const groupStd = (settings: Settings): Json =>
  settings.flag(`${algorithm}.grpo_norm_by_std`)
    ? { use: "group_std", epsilon: 1e-6, single: "one" }
    : "none";

/** @param whitened the estimator has done so itself */
function normalised(settings: Settings, whitened: boolean): JsonObject {
  const key = `${algorithm}.advantage_batch_normalize`;
  if (!settings.flag(key)) return {};
  if (whitened) {
    settings.refuse(key, "the estimator standardises advantages itself, and Gradus does it once");
    return {};
  }
  settings.refuse(key, "SkyRL's mean counts padding as zeros, which Gradus has none of");
  return { whiten: { over: "tokens", population: true, epsilon: 1e-8, inside: "floor" } };
}
