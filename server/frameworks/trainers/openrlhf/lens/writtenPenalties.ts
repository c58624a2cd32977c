/** Divergences from the reference, and masks. The mirror image of `convert/openrlhfAlgorithm.ts`. */
import type { KlConfig, StageBody } from "../../../../core/config/resolved.ts";
import { nameOf } from "../../../lens/exportDraft.ts";
import { isAdaptive, isPlainController, missPenaltyDetails, ownPenalties } from "../../../lens/penalty.ts";
import type { Batch } from "./batch.ts";
import type { OpenRlhfDraft } from "./draft.ts";

const estimators: ReadonlySet<string> = new Set(["k1", "k2", "k3"]);
/** OpenRLHF bounds an estimate by the one, and k3's log-ratio by the other. */
const [mostOfEstimate, leastOfK3] = [10, -10];
/** Its bound on the weight of an unbiased gradient. */
const mostWeight = 10;

/** One, in the reward or in the loss. */
export function kl({ kl: entries }: StageBody, batch: Batch, draft: OpenRlhfDraft): void {
  const [penalty] = ownPenalties(entries, draft, "of all");
  if (penalty === undefined) return draft.set("algo.kl.init_coef", 0);
  const { key, entry } = penalty;
  const inLoss = entry.place === "loss";
  draft.set("algo.kl.use_loss", inLoss);
  draft.set("algo.kl.estimator", estimatorOf(key, entry, draft));
  strength(key, entry, draft);
  if (inLoss) gradient(key, entry, batch, draft);
  missPenaltyDetails(penalty, draft, inLoss);
  if (inLoss && entry.aggregate !== "token_mean") aggregated(key, entry, draft);
}

function estimatorOf(key: string, { estimator }: KlConfig, draft: OpenRlhfDraft): string {
  const name = nameOf(estimator);
  if (!estimators.has(name)) {
    draft.miss(`${key}.estimator`, name, "OpenRLHF has no such estimate: it takes k3.");
    return "k3";
  }
  const { clamp, clamp_log_ratio: log } = estimator.params;
  const most = typeof clamp === "number" ? clamp : Number.POSITIVE_INFINITY;
  if (most !== mostOfEstimate)
    draft.miss(
      `${key}.estimator.clamp`,
      clamp ?? null,
      `OpenRLHF bounds a token's estimate by ${mostOfEstimate}.`,
      most < mostOfEstimate ? "algorithm" : "guard",
    );
  const low = typeof log === "number" ? -log : Object(log)["low"];
  const high = typeof log === "number" ? log : Object(log)["high"];
  if (name === "k3" ? low !== leastOfK3 || high !== undefined : low !== undefined || high !== undefined)
    draft.miss(
      `${key}.estimator.clamp_log_ratio`,
      log ?? null,
      name === "k3"
        ? `The log-ratio of OpenRLHF's k3 is at least ${leastOfK3}.`
        : `OpenRLHF's ${name} does not bound the log-ratio.`,
      "guard",
    );
  return name;
}

function strength(key: string, { coefficient, place }: KlConfig, draft: OpenRlhfDraft): void {
  if (!isAdaptive(coefficient))
    return draft.set("algo.kl.init_coef", draft.constant(`${key}.coefficient`, coefficient));
  draft.set("algo.kl.init_coef", coefficient.initial);
  draft.set("algo.kl.target", coefficient.target);
  const { horizon } = coefficient;
  if (!isPlainController(coefficient) || place === "loss")
    draft.miss(
      `${key}.coefficient`,
      coefficient,
      place === "loss"
        ? "In the loss OpenRLHF's controller follows the mean over all tokens, weighted by responses."
        : "OpenRLHF's controller is proportional, by the mean over a response's tokens, without bounds.",
    );
  draft.set("algo.kl.horizon", Math.round(horizon));
  if (!Number.isInteger(horizon))
    draft.miss(`${key}.coefficient.horizon`, horizon, "OpenRLHF's horizon is a whole number.");
}

/** Whose gradient it is: the estimate's own, or the divergence's, weighted for the updates after the first. */
function gradient(key: string, entry: KlConfig, { updates }: Batch, draft: OpenRlhfDraft): void {
  const { importance_weighted: weighted, estimator } = entry;
  const straight = estimator.params["straight_through"] === true;
  // The pathwise gradient of k2 is that of the divergence.
  const unbiased = straight || nameOf(estimator) === "k2";
  if (weighted !== false && unbiased && isOpenRlhfs(weighted))
    return draft.set("algo.kl.unbiased_gradient", true);
  if (weighted !== false && updates > 1)
    draft.miss(
      `${key}.importance_weighted`,
      weighted,
      `OpenRLHF weights the gradient of a token by its ratio up to ${mostWeight}, and not its value.`,
    );
  if (!straight || nameOf(estimator) === "k2") return;
  draft.set("algo.kl.unbiased_gradient", true);
  if (updates > 1 && weighted === false)
    draft.miss(
      `${key}.estimator.straight_through`,
      true,
      `OpenRLHF weights this gradient by the ratio, up to ${mostWeight}, in the updates after the first.`,
    );
}

const isOpenRlhfs = (weighted: Exclude<KlConfig["importance_weighted"], false>): boolean =>
  typeof weighted === "object" &&
  weighted.level === "token" &&
  weighted.of === "gradient" &&
  weighted.detached &&
  weighted.cap === mostWeight;

/** A mean over tokens, whatever the policy's loss does. */
function aggregated(key: string, { aggregate }: KlConfig, draft: OpenRlhfDraft): void {
  const own = draft.settings["actor.loss_agg_mode"] === "token-mean";
  const isSequence = draft.settings["actor.policy_loss_type"] === "gspo";
  if (aggregate === "objective" && own && !isSequence) return;
  draft.miss(`${key}.aggregate`, aggregate, "OpenRLHF's penalty in the loss is a mean over tokens.");
}

export function mask({ mask: chosen }: StageBody, draft: OpenRlhfDraft): void {
  for (const one of chosen)
    draft.miss(`mask.${nameOf(one)}`, nameOf(one), "OpenRLHF has no masks: these tokens train.");
}
