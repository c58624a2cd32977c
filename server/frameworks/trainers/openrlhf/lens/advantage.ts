/** OpenRLHF's advantage estimators, and what surrounds them. */
import type { JsonObject } from "../../../../../shared/lib/json.ts";
import type { StageBody } from "../../../../core/config/resolved.ts";
import { readAdvantage, useOf, writeAdvantage, type AdvantageLens } from "../../../lens/advantage.ts";
import { key } from "../../../lens/holes.ts";
import type { ConfigDraft } from "../../../lens/configDraft.ts";
import { criticBaseline } from "../../../lens/critic.ts";
import { nameOf } from "../../../lens/exportDraft.ts";
import type { Settings } from "../../../lens/settings.ts";
import type { OpenRlhfDraft } from "./draft.ts";

type AdvantageBlock = StageBody["advantage"];

const keys = "algo.advantage";
const chooses = `${keys}.estimator`;
const gamma = key(`${keys}.gamma`);
/** The least variance of the tokens of a step. */
const floor = 1e-8;
/** Bounds that no reward reaches: OpenRLHF always has some. */
const unbounded = 1e9;
/** Over all trained tokens of the step: n in the variance. */
const whiten: JsonObject = { over: "tokens", population: true, epsilon: floor, inside: "floor" };
const byToken: JsonObject = { scale: "none", level: "token", gamma, observations: "discount", whiten };

/** Keys that are written below. */
const written = ["level", "whiten", "clip", "penalty"] as const;

/** They compare no responses of a prompt. */
const alone: AdvantageLens["estimators"] = {
  gae: { baseline: criticBaseline(key(`${keys}.lambd`)), ...byToken },
  reinforce: { baseline: "none", ...byToken },
  flash_reinforce: { baseline: "batch_mean", scale: "none" },
};
const lens: AdvantageLens = {
  instead: "group_mean",
  apart: written,
  estimators: {
    ...alone,
    group_norm: { baseline: "group_mean", scale: { use: "group_std", epsilon: 1e-9 } },
    dr_grpo: { baseline: "group_mean", scale: "none" },
    reinforce_baseline: { baseline: "group_mean", scale: "none", whiten },
    rloo: { baseline: "leave_one_out", scale: "none" },
  },
};
const ungrouped: AdvantageLens = {
  instead: "batch_mean",
  apart: ["baseline", ...written],
  estimators: alone,
};

export function readOpenRlhfAdvantage(settings: Settings, draft: ConfigDraft): void {
  const name = settings.text(chooses) ?? "gae";
  settings.need(gamma.$key);
  const [low, high] = settings.list("reward.clip_range")?.map(Number) ?? [-10, 10];
  // The range bounds the reward minus its baseline; KL is subtracted from each token after that.
  const apart: JsonObject = {
    penalty: "apart",
    clip: { low: Math.min(0, low!), high: Math.max(0, high!) },
  };
  if (name === "gae" && (low! > -10 || high! < 10))
    settings.refuse("reward.clip_range", "with a critic Gradus does not bound the reward itself");
  const found = readAdvantage(lens, name, settings);
  if (found === undefined)
    settings.refuse(chooses, "OpenRLHF 0.11 does not define this estimator; group_mean is used instead");
  const block = found ?? readAdvantage(lens, "dr_grpo", settings);
  const centred = block?.["whiten"] !== undefined && settings.flag(`${keys}.no_std_norm`);
  draft.set("advantage", {
    ...block,
    ...(centred ? { whiten: { ...whiten, scale: false } } : {}),
    ...(name === "gae" ? {} : apart),
  });
}

/** @returns the estimator's name */
export function writeOpenRlhfAdvantage(body: StageBody, draft: OpenRlhfDraft): string {
  const { advantage: block, rollout } = body;
  const baseline = nameOf(block.baseline);
  const compares = !Object.values(alone).some((one) => useOf(one["baseline"]) === baseline);
  if (rollout.group === 1 && compares)
    draft.miss(
      "advantage.baseline",
      baseline,
      "OpenRLHF compares a prompt's responses where there are two at least: it subtracts the mean over the step.",
    );
  const name = writeAdvantage(rollout.group === 1 ? ungrouped : lens, block, draft);
  draft.set(chooses, name);
  whitening(block.whiten, name, draft);
  levels(body, name, draft);
  bounds(block, name, draft);
  return name;
}

const isByToken = (name: string): boolean => lens.estimators[name]?.["level"] === "token";

/** Over tokens, √max(var, 1e-8), n. */
function whitening(whiten: AdvantageBlock["whiten"], name: string, draft: OpenRlhfDraft): void {
  const miss = (reason: string): void => draft.miss("advantage.whiten", whiten, reason);
  if (lens.estimators[name]?.["whiten"] === undefined) {
    if (whiten !== "none") miss(`OpenRLHF's ${name} does not standardise finished advantages.`);
    return;
  }
  if (whiten === "none" || whiten === "responses")
    return miss(`OpenRLHF's ${name} standardises advantages over the tokens of the step.`);
  const how = typeof whiten === "string" ? { center: true, scale: true, population: false } : whiten;
  if (!how.scale) draft.set("algo.advantage.no_std_norm", true);
  const {
    over = "tokens",
    epsilon: added = floor,
    inside = "variance",
  } = typeof whiten === "string" ? {} : whiten;
  if (over !== "tokens") miss("OpenRLHF standardises over tokens.");
  if (!how.center) miss("OpenRLHF takes off the mean over the tokens.");
  if (!how.scale) return;
  if (!how.population) miss("OpenRLHF's variance over the tokens divides by n.");
  if (added !== floor || inside !== "floor")
    draft.miss("advantage.whiten", whiten, `OpenRLHF's least variance is ${floor}.`, "guard");
}

const chargesReward = ({ kl }: StageBody): boolean => kl.some(({ place }) => place === "reward");

/** A critic works on tokens where the level is `auto`. */
const levelOf = ({ level, baseline }: AdvantageBlock): string =>
  level !== "auto" ? level : nameOf(baseline) === "critic" ? "token" : "response";

function levels(body: StageBody, name: string, draft: OpenRlhfDraft): void {
  const { level, gamma } = body.advantage;
  const own = levelOf(body.advantage);
  // Undiscounted, all tokens of a response have its reward.
  const fitting = { gae: ["token"], reinforce: ["token", "response"] }[name] ?? ["response"];
  if (!fitting.includes(own))
    draft.miss(
      "advantage.level",
      level,
      `OpenRLHF's ${name} works on ${isByToken(name) ? "tokens" : "whole responses"}.`,
    );
  if (isByToken(name) && own === "token")
    draft.set("algo.advantage.gamma", draft.constant("advantage.gamma", gamma));
  else if (chargesReward(body) && gamma !== 1)
    draft.miss("advantage.gamma", gamma, `OpenRLHF's ${name} sums a response's penalties undiscounted.`);
  penalties(body, name, draft);
}

/** What is taken off for a divergence, token by token. */
function penalties(body: StageBody, name: string, draft: OpenRlhfDraft): void {
  if (!chargesReward(body)) return;
  const { penalty, clip } = body.advantage;
  const miss = (reason: string): void => draft.miss("advantage.penalty", penalty, reason);
  const byToken = isByToken(name) && levelOf(body.advantage) === "token";
  if (name === "gae") {
    if (penalty !== "in_reward") miss("OpenRLHF's gae subtracts the penalty from each token's reward.");
  } else if (penalty === "in_reward" && !byToken)
    miss("OpenRLHF subtracts the penalty from each token, after the baseline.");
  else if (penalty === "in_reward" && clip !== "none")
    miss("OpenRLHF subtracts the penalty after the bounds.");
}

/** The range bounds a reward after the baseline, and in `gae` before it. */
function bounds({ clip }: AdvantageBlock, name: string, draft: OpenRlhfDraft): void {
  const given = clip === "none" ? undefined : clip;
  if (given !== undefined && name === "gae")
    draft.miss("advantage.clip", clip, "OpenRLHF's gae does not bound advantages.");
  const used = name === "gae" ? undefined : given;
  draft.set("reward.clip_range", [used?.low ?? -unbounded, used?.high ?? unbounded]);
}
