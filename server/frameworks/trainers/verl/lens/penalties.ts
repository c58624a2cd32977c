/** Divergences from the reference, masks, and corrections for a sampler that is not the trainer. */
import type { Json, JsonObject } from "../../../../../shared/lib/json.ts";
import type { StageBody } from "../../../../core/config/resolved.ts";
import { isObject } from "../../../text/values.ts";
import type { Settings } from "../../../lens/settings.ts";
import type { KlEntry } from "../../../lens/types.ts";
import { nameOf, type Chosen } from "../../../lens/exportDraft.ts";
import {
  fixedCoefficient,
  missPenaltyDetails,
  ownPenalties,
  penaltyEstimator,
  setController,
  type PlacedPenalty,
} from "../../../lens/penalty.ts";
import type { VerlDraft } from "./draft.ts";
import { actor, correction } from "./keys.ts";

/** verl's names of the estimators. */
const estimators: Readonly<Record<string, string>> = { k1: "kl", abs: "abs", k2: "mse", k3: "low_var_kl" };
/** Both of verl's KLs; each is off unless it is switched on. */
export function readVerlPenalties(settings: Settings, loss: JsonObject, aggregate: Json): KlEntry[] {
  const inReward = settings.flag("algorithm.use_kl_in_reward");
  const entries: KlEntry[] = [];
  const [type, start] = [settings.text("algorithm.kl_ctrl.type"), settings.need("algorithm.kl_ctrl.kl_coef")];
  const [horizon, target] = [
    settings.need("algorithm.kl_ctrl.horizon"),
    settings.need("algorithm.kl_ctrl.target_kl"),
  ];
  const kind = settings.text("algorithm.kl_penalty") ?? "kl";
  if (inReward)
    entries.push({
      model: "reference",
      estimator: estimatorNamed(kind),
      place: "reward",
      coefficient: type === "adaptive" ? { use: "adaptive", initial: start, target, horizon } : start,
    });
  const inLoss = settings.flag(`${actor}.use_kl_loss`);
  const coefficient = settings.need(`${actor}.kl_loss_coef`);
  const lossKind = settings.text(`${actor}.kl_loss_type`) ?? "low_var_kl";
  if (inLoss)
    entries.push({
      model: "reference",
      estimator: estimatorNamed(lossKind),
      place: "loss",
      coefficient,
      ...klAggregate(settings, loss, aggregate),
    });
  return entries;
}

/** A KL with a normaliser other than the loss's names it. */
function klAggregate(settings: Settings, { aggregate: own }: JsonObject, aggregate: Json): JsonObject {
  if (JSON.stringify(own) === JSON.stringify(aggregate)) return {};
  const name = isObject(aggregate) ? aggregate["use"] : aggregate;
  if (name === "token_mean" || name === "sequence_mean" || name === "sequence_sum")
    return { aggregate: name };
  settings.refuse(
    `${actor}.loss_agg_mode`,
    "Gradus has no such normaliser for a KL term; this one uses the loss's",
  );
  return {};
}

/** `k3+` has the value of k3 and the gradient of k2. verl bounds k3: its log-ratio by 20, itself by 10. */
function estimatorNamed(kind: string): Json {
  const base = kind.replace(/\+$/, "");
  const use =
    { kl: "k1", k1: "k1", abs: "abs", mse: "k2", k2: "k2", low_var_kl: "k3", k3: "k3" }[base] ?? base;
  const straight = kind.endsWith("+") && use !== "k2" ? { straight_through: true } : {};
  const clamps = use === "k3" ? { clamp_log_ratio: 20, clamp: 10 } : {};
  const whole = { use, ...clamps, ...straight };
  return Object.keys(whole).length === 1 ? use : whole;
}

/** One in the reward, one in the loss. */
export function writeVerlPenalties({ kl: entries }: StageBody, estimator: string, draft: VerlDraft): void {
  draft.set(`${actor}.use_kl_loss`, false);
  for (const penalty of ownPenalties(entries, draft, "of each place")) {
    const { key, entry } = penalty;
    if (entry.place === "loss") inLoss(penalty, draft);
    else inReward(penalty, estimator, draft);
    missPenaltyDetails(penalty, draft);
    if (entry.place === "loss" && entry.aggregate !== "objective")
      draft.miss(`${key}.aggregate`, entry.aggregate, "verl normalises the penalty as the loss.");
  }
}

function inLoss(penalty: PlacedPenalty, draft: VerlDraft): void {
  draft.set(`${actor}.use_kl_loss`, true);
  draft.set(`${actor}.kl_loss_type`, estimatorOf(penalty, draft));
  draft.set(`${actor}.kl_loss_coef`, fixedCoefficient(penalty, draft));
}

const controller = "algorithm.kl_ctrl";
const controllerKeys = {
  type: `${controller}.type`,
  start: `${controller}.kl_coef`,
  target: `${controller}.target_kl`,
  horizon: `${controller}.horizon`,
};

function inReward(penalty: PlacedPenalty, estimator: string, draft: VerlDraft): void {
  if (estimator === "gdpo")
    return draft.miss(
      `${penalty.key}.place`,
      "reward",
      "verl's gdpo reads the terms alone: the penalty has no effect.",
    );
  draft.set("algorithm.use_kl_in_reward", true);
  draft.set("algorithm.kl_penalty", estimatorOf(penalty, draft));
  setController(penalty, controllerKeys, draft);
}

function estimatorOf(penalty: PlacedPenalty, draft: VerlDraft): string {
  const own = penaltyEstimator(penalty, estimators, draft);
  const { estimator } = penalty.entry;
  const straight = estimator.params["straight_through"] === true && nameOf(estimator) in estimators;
  return straight && own !== "mse" ? `${own}+` : own;
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
