/** The divergence from the reference, and masks. */
import type { StageBody } from "../../../../core/config/resolved.ts";
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

/** One: in the reward or in the loss. */
export function kl({ kl: entries, objective }: StageBody, draft: SkyrlDraft): void {
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
