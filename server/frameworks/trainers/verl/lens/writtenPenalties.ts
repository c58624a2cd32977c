/** Divergences from the reference, masks, and corrections for a sampler that is not the trainer. */
import type { Json } from "../../../../../shared/lib/json.ts";
import type { KlConfig, StageBody } from "../../../../core/config/resolved.ts";
import { nameOf, type Chosen } from "../../../lens/exportDraft.ts";
import type { VerlDraft } from "./draft.ts";
import { actor, correction } from "./keys.ts";

/** verl's names of the estimators. */
const estimators: Readonly<Record<string, string>> = { k1: "kl", abs: "abs", k2: "mse", k3: "low_var_kl" };
/** verl bounds k3's log-ratio by the one, and the estimate by the other. */
const [logBound, mostOfK3] = [20, 10];

/** One in the reward, one in the loss. */
export function kl({ kl: entries }: StageBody, estimator: string, draft: VerlDraft): void {
  const used = new Set<string>();
  draft.set(`${actor}.use_kl_loss`, false);
  for (const [at, entry] of entries.entries()) {
    const { model, place } = entry;
    const key = `kl.${at}`;
    if (used.has(place) || model !== "reference") {
      draft.miss(
        key,
        model,
        `verl has one penalty in the ${place}, on the divergence from its reference: this one is left out.`,
      );
      continue;
    }
    used.add(place);
    if (place === "loss") inLoss(key, entry, draft);
    else inReward(key, entry, estimator, draft);
    details(key, entry, draft);
  }
}

function inLoss(key: string, entry: KlConfig, draft: VerlDraft): void {
  draft.set(`${actor}.use_kl_loss`, true);
  draft.set(`${actor}.kl_loss_type`, estimatorOf(key, entry, draft));
  const { coefficient } = entry;
  if (typeof coefficient === "number" || "schedule" in coefficient)
    return draft.set(`${actor}.kl_loss_coef`, draft.constant(`${key}.coefficient`, coefficient));
  draft.set(`${actor}.kl_loss_coef`, coefficient.initial);
  draft.miss(
    `${key}.coefficient`,
    coefficient,
    `verl's coefficient in the loss does not adapt: it stays at ${coefficient.initial}.`,
  );
}

const [controller, usualHorizon] = [
  "algorithm.kl_ctrl",
  { gain: undefined, rule: "proportional", per: "token" },
];

function inReward(key: string, entry: KlConfig, estimator: string, draft: VerlDraft): void {
  if (estimator === "gdpo")
    return draft.miss(
      `${key}.place`,
      "reward",
      "verl's gdpo reads the terms alone: the penalty has no effect.",
    );
  draft.set("algorithm.use_kl_in_reward", true);
  draft.set("algorithm.kl_penalty", estimatorOf(key, entry, draft));
  const { coefficient } = entry;
  if (typeof coefficient === "number" || "schedule" in coefficient)
    return draft.set(`${controller}.kl_coef`, draft.constant(`${key}.coefficient`, coefficient));
  draft.set(`${controller}.type`, "adaptive");
  draft.set(`${controller}.kl_coef`, coefficient.initial);
  draft.set(`${controller}.target_kl`, coefficient.target);
  draft.set(`${controller}.horizon`, coefficient.horizon);
  const { gain, rule, per, error_clip: clip, least, most } = coefficient;
  if (
    JSON.stringify({ gain, rule, per }) !== JSON.stringify(usualHorizon) ||
    clip !== 0.2 ||
    least !== 0 ||
    most !== undefined
  )
    draft.miss(
      `${key}.coefficient`,
      coefficient,
      "verl's controller is proportional, by the mean over tokens, without bounds.",
    );
}

function estimatorOf(key: string, { estimator }: KlConfig, draft: VerlDraft): string {
  const name = nameOf(estimator);
  const own = estimators[name];
  if (own === undefined) {
    draft.miss(`${key}.estimator`, name, "verl has no such estimate: it takes k3.");
    return "low_var_kl";
  }
  const { straight_through: straight, clamp, clamp_log_ratio: log } = estimator.params;
  if (name === "k3" && (clamp ?? null) !== mostOfK3)
    draft.miss(`${key}.estimator.clamp`, clamp ?? null, `verl bounds a token's k3 by ${mostOfK3}.`, "guard");
  if (name === "k3" && typeof log === "number" && log < logBound)
    draft.miss(`${key}.estimator.clamp_log_ratio`, log, `verl bounds k3's log-ratio by ${logBound}.`);
  return straight === true && name !== "k2" ? `${own}+` : own;
}

function details(key: string, entry: KlConfig, draft: VerlDraft): void {
  const wrong: readonly (readonly [string, unknown, boolean, string])[] = [
    ["direction", entry.direction, entry.direction !== "reverse", "verl estimates KL(policy ‖ reference)."],
    ["mask", entry.mask, entry.mask !== "all", "verl's penalty acts on all responses."],
    ["shown", entry.shown, entry.shown !== undefined, "verl's reference reads the prompt alone."],
    ["turns", entry.turns, entry.turns !== undefined, "verl's penalty acts on all turns."],
    ["weight", entry.weight, entry.weight !== undefined, "verl's penalty weights all tokens alike."],
    [
      "importance_weighted",
      entry.importance_weighted,
      entry.importance_weighted !== false,
      "verl does not weight the penalty by the ratio.",
    ],
    [
      "aggregate",
      entry.aggregate,
      entry.place === "loss" && entry.aggregate !== "objective",
      "verl normalises the penalty as the loss.",
    ],
  ];
  for (const [name, value, is, reason] of wrong) if (is) draft.miss(`${key}.${name}`, value, reason);
}

export function mask({ mask: chosen }: StageBody, draft: VerlDraft): void {
  for (const one of chosen)
    if (nameOf(one) !== "rejected")
      draft.miss(`mask.${nameOf(one)}`, nameOf(one), "verl has no such mask: these tokens train.");
}

/** Importance weights, and rejections: those of the mask come before the advantages, as verl's do. */
export function corrections({ objective, mask: masks }: StageBody, draft: VerlDraft): void {
  const rejected = masks.filter((one) => nameOf(one) === "rejected");
  const after = objective.correction.filter((one) => nameOf(one) === "reject");
  const weights = objective.correction.filter((one) => nameOf(one) !== "reject");
  weighted(weights, draft);
  rejections([...rejected, ...after], draft);
  if (after.length > 0 && draft.settings[`${correction}.bypass_mode`] !== true)
    draft.miss(
      "objective.correction",
      "reject",
      "verl rejects before the advantages, which then leave the tokens out.",
    );
}

function weighted([first, ...more]: readonly Chosen[], draft: VerlDraft): void {
  for (const one of more)
    draft.miss("objective.correction", nameOf(one), "verl has one importance weight: this one is left out.");
  if (first === undefined) return;
  const [name, { params }] = [nameOf(first), first];
  const { level, low, high, normalise } = params;
  const fits = (name === "truncate" && low === null) || (name === "mask" && typeof low === "number");
  if (!fits || typeof high !== "number" || (level !== "token" && level !== "sequence"))
    return draft.miss(
      "objective.correction",
      `${name} by ${String(level)}`,
      "verl cannot correct so: it does not correct.",
    );
  draft.set(`${correction}.rollout_is`, level);
  draft.set(`${correction}.rollout_is_threshold`, name === "mask" ? `${String(low)}_${high}` : high);
  if (normalise === true) draft.set(`${correction}.rollout_is_batch_normalize`, true);
  for (const [key, usual] of Object.entries(usualCorrection))
    if (params[key] !== undefined && params[key] !== usual)
      draft.miss(`objective.correction.${key}`, params[key], "verl's correction has no such choice.");
}

const usualCorrection: Readonly<Record<string, Json>> = {
  statistic: "ratio",
  weight: "statistic",
  numerator: "behaviour",
  denominator: "sampled",
};

function rejections(list: readonly Chosen[], draft: VerlDraft): void {
  if (list.length === 0) return;
  const one = ({ params: { level, estimator } }: Chosen): string =>
    `${String(level).replace("sequence_", "seq_")}_${String(estimator)}`;
  const threshold = ({ params: { low, high } }: Chosen): string =>
    typeof low === "number" ? `${low}_${String(high)}` : String(high);
  draft.set(`${correction}.rollout_rs`, list.map(one).join(","));
  draft.set(`${correction}.rollout_rs_threshold`, list.map(threshold).join(","));
}
