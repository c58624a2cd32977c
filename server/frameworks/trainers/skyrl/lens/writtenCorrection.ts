/** Importance weights and rejections for a sampler that is not the trainer: the mirror image of `convert/skyrl/correction.ts`. */
import type { Json } from "../../../../../shared/lib/json.ts";
import type { StageBody } from "../../../../core/config/resolved.ts";
import { nameOf, type Chosen } from "../../../lens/exportDraft.ts";
import type { SkyrlDraft } from "./draft.ts";
import { correction, sampling } from "./keys.ts";

/** SkyRL bounds the log-ratio by it. */
const bound = 20;

/**
 * SkyRL's `rollout_is`: the plain policy gradient, weighted by the ratio of the policy to the sampler, where that is between
 * bounds. It is the only correction then.
 */
export function rolloutWeights(
  list: readonly Chosen[],
): { readonly low: number; readonly high: number } | undefined {
  const [only] = list;
  if (list.length !== 1 || only === undefined || nameOf(only) !== "mask") return undefined;
  const { numerator, denominator, level, low, high, statistic, normalise } = only.params;
  const fits =
    numerator === "now" &&
    denominator === "sampled" &&
    level === "token" &&
    statistic === "ratio" &&
    normalise !== true;
  return fits && typeof low === "number" && typeof high === "number"
    ? { low: rounded(1 - low), high: rounded(high - 1) }
    : undefined;
}

/** Without the noise of the subtraction. */
const rounded = (value: number): number => Number(value.toPrecision(12));

export function corrections({ objective, mask, rollout }: StageBody, draft: SkyrlDraft): void {
  const { loss, correction: list } = objective;
  if (nameOf(loss) === "reinforce" && rolloutWeights(list) !== undefined) return filtered(rollout, draft);
  const rejected = mask.filter((one) => nameOf(one) === "rejected");
  for (const one of rejected)
    draft.miss(
      "mask.rejected",
      nameOf(one),
      "SkyRL rejects after the advantages, and its normaliser counts the tokens: these tokens train.",
    );
  for (const one of list.filter((each) => nameOf(each) === "reject"))
    draft.miss(
      "objective.correction",
      nameOf(one),
      "SkyRL's normaliser counts what is rejected: it does not reject.",
    );
  if (list.length > 0 && ["clip_cov", "kl_cov"].includes(nameOf(loss)))
    return draft.miss(
      "objective.correction",
      nameOf(list[0]!),
      `SkyRL refuses a correction of ${nameOf(loss)}: it does not correct.`,
    );
  weighted(
    list.filter((one) => nameOf(one) !== "reject"),
    draft,
  );
  const dppo = nameOf(loss).startsWith("dppo");
  if (list.length > 0 || (dppo && loss.params["anchor"] === "sampled")) filtered(rollout, draft);
  if (list.length === 0 || !dppo || loss.params["anchor"] === "sampled") return;
  draft.set(`${sampling}.logprobs`, 1);
  draft.miss("objective.anchor", loss.params["anchor"], "With a correction SkyRL's dppo is to the sampler.");
}

function weighted([first, ...more]: readonly Chosen[], draft: SkyrlDraft): void {
  for (const one of more)
    draft.miss("objective.correction", nameOf(one), "SkyRL has one importance weight: this one is left out.");
  if (first === undefined) return;
  const [name, { params }] = [nameOf(first), first];
  const put = name === "truncate" ? truncated(params) : masked(params);
  if (put === undefined)
    return draft.miss(
      "objective.correction",
      `${name} by ${String(params["level"])}`,
      "SkyRL cannot correct so: it does not correct.",
    );
  for (const [key, value] of Object.entries(put)) draft.set(`${correction}.${key}`, value);
  for (const [key, usual] of Object.entries(usualCorrection))
    if (params[key] !== undefined && params[key] !== usual)
      draft.miss(`objective.correction.${key}`, params[key], "SkyRL's correction has no such choice.");
  const clamp = params["clamp_log_ratio"];
  if (typeof clamp === "number" && clamp < bound)
    draft.miss("objective.correction.clamp_log_ratio", clamp, `SkyRL bounds the log-ratio by ${bound}.`);
}

const usualCorrection: Readonly<Record<string, Json>> = {
  statistic: "ratio",
  numerator: "behaviour",
  denominator: "sampled",
  normalise: false,
};

function truncated({ level, low, high }: Chosen["params"]): Readonly<Record<string, Json>> | undefined {
  if (low !== null || typeof high !== "number" || (level !== "token" && level !== "sequence"))
    return undefined;
  return { tis_ratio_type: level, [`${level}_tis_ratio_clip_high`]: high };
}

/** A weight that no bound caps, of what lies between bounds: its own bound is that of the log-ratio. */
function masked({ level, low, high, weight }: Chosen["params"]): Readonly<Record<string, Json>> | undefined {
  if (typeof low !== "number" || typeof high !== "number") return undefined;
  if (level === "token")
    return {
      tis_ratio_type: "token",
      token_tis_ratio_clip_high: high,
      token_mask_is_threshold_low: low,
      token_mask_is_threshold_high: high,
    };
  if (level === "sequence" && weight !== "token")
    return {
      tis_ratio_type: "sequence",
      sequence_tis_ratio_clip_high: high,
      sequence_mask_metric: "product",
      product_mask_low: low,
      product_mask_high: high,
    };
  if (weight !== "token") return undefined;
  return {
    tis_ratio_type: "token",
    token_tis_ratio_clip_high: noCap,
    ...(level === "sequence"
      ? { sequence_mask_metric: "product", product_mask_low: low, product_mask_high: high }
      : { sequence_mask_metric: "geometric", geo_mask_low: low, geo_mask_high: high }),
  };
}

/** Above e^20, where SkyRL's log-ratios end. */
const noCap = 1e9;

/** vLLM says the log-probs of the model itself, before the temperature and what it filters. */
function filtered(rollout: StageBody["rollout"], draft: SkyrlDraft): void {
  const { temperature, top_p: p, top_k: k, min_p: least } = rollout;
  if (temperature === 1 && p === 1 && k <= 0 && least === 0) return;
  draft.miss(
    "objective.correction.denominator",
    "sampled",
    "SkyRL's log-probs of the sampler are those before the temperature and the filters of sampling.",
  );
}
