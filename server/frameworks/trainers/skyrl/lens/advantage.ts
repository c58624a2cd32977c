/** SkyRL's advantage estimators, and what surrounds them. */
import type { JsonObject } from "../../../../../shared/lib/json.ts";
import type { StageBody } from "../../../../core/config/resolved.ts";
import {
  isSameWhitening,
  readAdvantage,
  writeAdvantage,
  type AdvantageLens,
} from "../../../lens/advantage.ts";
import { flag, key } from "../../../lens/holes.ts";
import type { ConfigDraft } from "../../../lens/configDraft.ts";
import { criticBaseline } from "../../../lens/critic.ts";
import type { Settings } from "../../../lens/settings.ts";
import type { SkyrlDraft } from "./draft.ts";
import { algorithm } from "./keys.ts";

const chooses = `${algorithm}.advantage_estimator`;
const normalises = `${algorithm}.advantage_batch_normalize`;
/** A rollout without a scored sibling keeps its reward. */
const groupMean: JsonObject = { use: "group_mean", single: "reward" };
const groupStd = flag(
  `${algorithm}.grpo_norm_by_std`,
  { use: "group_std", epsilon: 1e-6, single: "one" },
  "none",
);
const byToken: JsonObject = {
  scale: "none",
  level: "token",
  gamma: key(`${algorithm}.gamma`),
  whiten: "tokens",
};

const lens: AdvantageLens = {
  instead: "group_mean",
  apart: ["whiten"],
  estimators: {
    grpo: { baseline: groupMean, scale: groupStd },
    maxrl: { baseline: groupMean, scale: { use: "mean_reward", epsilon: 1e-6 } },
    rloo: { baseline: { use: "leave_one_out", single: "zero" }, scale: "none" },
    gae: { baseline: criticBaseline(key(`${algorithm}.lambd`)), ...byToken },
    "reinforce++": { baseline: "none", ...byToken },
  },
};

export function readSkyrlAdvantage(settings: Settings, draft: ConfigDraft): void {
  const name = settings.text(chooses) ?? "grpo";
  const chosen = readAdvantage(lens, name, settings);
  // What the chosen estimator does not read changes nothing.
  for (const one of ["gamma", "lambd", "grpo_norm_by_std"]) settings.get(`${algorithm}.${one}`);
  if (chosen === undefined)
    settings.refuse(chooses, "SkyRL 0.3.0 does not define this estimator; group_mean is used instead");
  draft.set("advantage", {
    ...(chosen ?? { baseline: groupMean, scale: "none" }),
    ...normalised(settings, chosen?.["whiten"] !== undefined),
  });
}

/** @param whitened the estimator has done so itself */
function normalised(settings: Settings, whitened: boolean): JsonObject {
  if (!settings.flag(normalises)) return {};
  if (whitened) {
    settings.refuse(normalises, "the estimator standardises advantages itself, and Gradus does it once");
    return {};
  }
  settings.refuse(normalises, "SkyRL's mean counts padding as zeros, which Gradus has none of");
  return { whiten: { over: "tokens", population: true, epsilon: 1e-8, inside: "floor" } };
}

/** @returns the estimator's name */
export function writeSkyrlAdvantage({ advantage: block, mask }: StageBody, draft: SkyrlDraft): string {
  const name = writeAdvantage(lens, block, draft);
  draft.set(chooses, name);
  const { whiten } = block;
  const miss = (reason: string): void => draft.miss("advantage.whiten", whiten, reason);
  if (lens.estimators[name]?.["whiten"] !== undefined) {
    if (!isSameWhitening(whiten, "tokens"))
      miss(`SkyRL's ${name} standardises advantages over the tokens of the step.`);
    else if (mask.length > 0) miss(`SkyRL's ${name} also counts tokens that a mask keeps from training.`);
  } else if (whiten !== "none") {
    draft.set(normalises, true);
    miss(
      "SkyRL standardises advantages of responses over all tokens, but its mean also counts padding as zeros.",
    );
  }
  return name;
}
