/** The divergence from the reference, and masks. */
import type { Json } from "../../../../../shared/lib/json.ts";
import type { StageBody } from "../../../../core/config/resolved.ts";
import type { Settings } from "../../../lens/settings.ts";
import type { KlEntry } from "../../../lens/types.ts";
import { isByResponse } from "./objective.ts";
import { nameOf } from "../../../lens/exportDraft.ts";
import {
  fixedCoefficient,
  missPenaltyDetails,
  ownPenalties,
  penaltyEstimator,
  setController,
} from "../../../lens/penalty.ts";
import type { SkyrlDraft } from "./draft.ts";
import { algorithm } from "./keys.ts";

const estimators = { k1: "k1", k2: "k2", k3: "k3", abs: "abs" };
const controller = `${algorithm}.kl_ctrl`;
const controllerKeys = {
  type: `${controller}.type`,
  start: `${algorithm}.kl_loss_coef`,
  target: `${controller}.kl_target`,
  horizon: `${controller}.horizon`,
};

/** One of SkyRL's two penalties, which exclude each other; the one in the loss is on unless it is switched off. */
export function readSkyrlPenalties(settings: Settings, aggregate: Json): KlEntry[] {
  const [inReward, inLoss] = [
    settings.flag(`${algorithm}.use_kl_in_reward`),
    settings.flag(`${algorithm}.use_kl_loss`),
  ];
  const coefficient = settings.need(`${algorithm}.kl_loss_coef`);
  const estimator = estimatorNamed(settings.text(`${algorithm}.kl_estimator_type`) ?? "k3");
  const control = `${algorithm}.kl_ctrl`;
  const adaptive: Json = {
    use: "adaptive",
    initial: coefficient,
    target: settings.need(`${control}.kl_target`),
    horizon: settings.need(`${control}.horizon`),
  };
  const adapts = settings.text(`${control}.type`) === "adaptive";
  if (inReward)
    return [{ model: "reference", estimator, place: "reward", coefficient: adapts ? adaptive : coefficient }];
  if (!inLoss) return [];
  const own = isByResponse(aggregate) ? {} : { aggregate: "sequence_mean" };
  return [{ model: "reference", estimator, place: "loss", coefficient, ...own }];
}

/** SkyRL bounds k3: its log-ratio by 20, itself by 10. */
const estimatorNamed = (name: string): Json =>
  name === "k3" ? { use: "k3", clamp_log_ratio: 20, clamp: 10 } : name;

/** One: in the reward or in the loss. */
export function writeSkyrlPenalties({ kl: entries, objective }: StageBody, draft: SkyrlDraft): void {
  draft.set(`${algorithm}.use_kl_loss`, false);
  for (const penalty of ownPenalties(entries, draft, "of all")) {
    const { key, entry } = penalty;
    const inLoss = entry.place === "loss";
    draft.set(`${algorithm}.use_kl_${inLoss ? "loss" : "in_reward"}`, true);
    const name = penaltyEstimator(penalty, estimators, draft);
    draft.set(`${algorithm}.kl_estimator_type`, name);
    const { estimator } = entry;
    if (estimator.params["straight_through"] === true && nameOf(estimator) === name && name !== "k2")
      draft.miss(`${key}.estimator.straight_through`, true, `SkyRL's gradient is that of ${name} itself.`);
    if (inLoss) draft.set(controllerKeys.start, fixedCoefficient(penalty, draft));
    else setController(penalty, controllerKeys, draft);
    missPenaltyDetails(penalty, draft);
    const mean = entry.aggregate === "objective" ? nameOf(objective.aggregate) : entry.aggregate;
    if (inLoss && mean !== "sequence_mean")
      draft.miss(
        `${key}.aggregate`,
        mean,
        "SkyRL averages the penalty over each response's tokens, then over responses.",
      );
  }
}

export function mask({ mask: chosen }: StageBody, draft: SkyrlDraft): void {
  for (const one of chosen) {
    const name = nameOf(one);
    if (name === "overlong") draft.set("generator.apply_overlong_filtering", true);
    else if (name !== "rejected")
      draft.miss(`mask.${name}`, name, "SkyRL has no such mask: these tokens train.");
  }
}
