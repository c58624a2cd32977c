/** The divergence from the reference, masks, and corrections for a sampler that is not the trainer. */
import type { KlConfig, StageBody } from "../../../../core/config/resolved.ts";
import { fixedCoefficient, missPenaltyDetails, ownPenalties } from "../../../lens/penalty.ts";
import { nameOf, type Chosen, type TrlDraft } from "./draft.ts";

/** TRL has one penalty: k3 to the reference, in the loss. */
export function kl({ kl: entries }: StageBody, draft: TrlDraft): void {
  for (const penalty of ownPenalties(entries, draft, "of all")) {
    const { key, entry } = penalty;
    draft.set("beta", fixedCoefficient(penalty, draft, "TRL's coefficient"));
    weighted(key, entry, draft);
    missPenaltyDetails(penalty, draft, true);
    const estimator = nameOf(entry.estimator);
    if (estimator !== "k3") draft.miss(`${key}.estimator`, estimator, "TRL's estimate is k3.");
    if (entry.place !== "loss")
      draft.miss(`${key}.place`, entry.place, "TRL adds the divergence to the loss.");
    if (entry.aggregate !== "objective")
      draft.miss(`${key}.aggregate`, entry.aggregate, "TRL normalises the penalty as the loss.");
  }
}

/** TRL weights the estimate by the ratio unless it is told not to. */
function weighted(key: string, { importance_weighted: by }: KlConfig, draft: TrlDraft): void {
  if (by === false) return draft.set("use_bias_correction_kl", false);
  if (by === true) return;
  const level = draft.settings["importance_sampling_level"] ?? "token";
  if (by.level !== level || by.of !== "value" || by.detached || by.cap !== undefined)
    draft.miss(
      `${key}.importance_weighted`,
      by,
      `TRL weights by the ratio of the loss, of the ${String(level)}.`,
    );
}

/** What sets a mask in TRL; a text: why it cannot. */
const masks: Readonly<Record<string, (params: Chosen["params"], draft: TrlDraft) => string | undefined>> = {
  overlong(_, draft) {
    draft.set("mask_truncated_completions", true);
    return undefined;
  },
  off_policy_sequence(params, draft) {
    draft.set("off_policy_mask_threshold", Number(params["threshold"]));
    return params["normaliser"] === "kept"
      ? "TRL's normaliser counts the tokens that it leaves out."
      : undefined;
  },
  top_entropy(params, draft) {
    draft.set("top_entropy_quantile", Number(params["share"]));
    if (params["over"] !== "all" || params["entropy"] !== "now")
      return "TRL ranks all tokens by their entropy in the update.";
    return params["normaliser"] === "kept"
      ? "TRL's normaliser counts the tokens that it leaves out."
      : undefined;
  },
};

export function mask({ mask: chosen }: StageBody, draft: TrlDraft): void {
  for (const one of chosen) {
    const name = nameOf(one);
    const put = masks[name];
    const why = put === undefined ? "TRL has no such mask: these tokens train." : put(one.params, draft);
    if (why !== undefined) draft.miss(`mask.${name}`, name, why);
  }
}

const prefix = "vllm_importance_sampling";

/** Between vLLM's probabilities and the trainer's. Where transformers generates, the two are the same. */
export function correction({ objective }: StageBody, vllm: boolean, draft: TrlDraft): void {
  const [first, ...more] = objective.correction;
  if (first === undefined) {
    if (vllm) draft.set(`${prefix}_correction`, false);
    return;
  }
  if (!vllm)
    return draft.miss(
      "objective.correction",
      objective.correction.map(nameOf),
      "TRL corrects where vLLM generates, and here transformers does: set `engine.args.use_vllm`.",
      "nothing-trained",
    );
  for (const one of more)
    draft.miss("objective.correction", nameOf(one), "TRL has one correction: this one is left out.");
  single(first, draft);
}

function single(one: Chosen, draft: TrlDraft): void {
  const { params } = one;
  const [name, level] = [nameOf(one), params["level"]];
  if ((name !== "truncate" && name !== "mask") || (level !== "token" && level !== "sequence")) {
    draft.miss(
      "objective.correction",
      `${name} by ${String(level)}`,
      "TRL cannot correct so: it does not correct.",
    );
    return draft.set(`${prefix}_correction`, false);
  }
  draft.set(`${prefix}_mode`, `${level}_${name}`);
  const bound = (key: string): number | null => (typeof params[key] === "number" ? params[key] : null);
  draft.set(`${prefix}_clip_min`, bound("low") ?? undefined);
  draft.set(`${prefix}_clip_max`, bound("high"));
  for (const [key, usual] of Object.entries(usualCorrection))
    if (params[key] !== undefined && params[key] !== usual)
      draft.miss(`objective.correction.${key}`, params[key], "TRL's correction has no such choice.");
}

const usualCorrection = {
  statistic: "ratio",
  weight: "statistic",
  normalise: false,
  clamp_log_ratio: null,
  numerator: "behaviour",
  denominator: "sampled",
};
