/** verl's losses, both ways, with their normalisers and bonus. */
import type { Json, JsonObject } from "../../../../../shared/lib/json.ts";
import type { StageBody } from "../../../../core/config/resolved.ts";
import { nameOf } from "../../../lens/exportDraft.ts";
import {
  entropyBonus,
  lossCap,
  missOfGspo,
  missOfOthers,
  missOfRatio,
  numberOf,
  readLoss,
  writeLoss,
  type LossLens,
} from "../../../lens/loss.ts";
import { key } from "../../../lens/holes.ts";
import type { Settings } from "../../../lens/settings.ts";
import { corrections } from "./correction.ts";
import type { VerlDraft } from "./draft.ts";
import { actor, correction, policyLoss } from "./keys.ts";

type ObjectiveBlock = StageBody["objective"];

/** A cap above every ratio. */
const noCap = 1e9;
/** verl's bounds on log-ratios of tokens and of sequences: no ratio is above e^20, or e^10. */
const bounds = [20, 10] as const;
const otherwise = `${actor}.clip_ratio`;
const clips: JsonObject = {
  low: key(`${actor}.clip_ratio_low`, { otherwise }),
  high: key(`${actor}.clip_ratio_high`, { otherwise }),
};
const capped: JsonObject = { ...clips, cap: key(`${actor}.clip_ratio_c`), clamp_log_ratio: 20 };

const losses: LossLens = {
  vanilla: { use: "clipped", ...clips, dual: key(`${actor}.clip_ratio_c`), clamp_log_ratio: 20 },
  gspo: { use: "clipped", ...clips, ratio: "sequence_token", clamp_log_ratio: { high: 10 } },
  sapo: {
    use: "sapo",
    tau_pos: key(`${actor}.tau_pos`),
    tau_neg: key(`${actor}.tau_neg`),
    clamp_log_ratio: 20,
  },
  gpg: { use: "reinforce" },
  clip_cov: {
    use: "clip_cov",
    ...clips,
    share: key(`${policyLoss}.clip_cov_ratio`),
    least: key(`${policyLoss}.clip_cov_lb`),
    most: key(`${policyLoss}.clip_cov_ub`),
  },
  kl_cov: {
    use: "kl_cov",
    share: key(`${policyLoss}.kl_cov_ratio`),
    coefficient: key(`${policyLoss}.ppo_kl_coef`),
  },
  geo_mean: { use: "geo_mean", ...clips },
  dro: { use: "dro", beta: key(`${policyLoss}.dro_beta`) },
  cispo: {
    use: "cispo",
    // Beyond 1 it bounds no weight.
    low: key(`${actor}.clip_ratio_low`, { otherwise, unbounded: 2, from: 1 + Number.EPSILON }),
    high: key(`${actor}.clip_ratio_high`, { otherwise, unbounded: noCap }),
    clamp_log_ratio: 20,
  },
  dppo_tv: { use: "dppo_tv", ...capped },
  dppo_kl: { use: "dppo_kl", ...capped },
};

/** How verl aggregates by `loss_agg_mode`. Rows that have lost all their tokens are not counted. */
export function aggregateOf(settings: Settings): Json {
  const mode = settings.text(`${actor}.loss_agg_mode`) ?? "token-mean";
  const factor = settings.number(`${actor}.loss_scale_factor`);
  const budget = factor ?? settings.need("data.max_response_length");
  const modes: Readonly<Record<string, Json>> = {
    "token-mean": "token_mean",
    "token-sum": "token_sum",
    "seq-mean-token-sum": { use: "sequence_sum", empty_rows: "skip" },
    "seq-mean-token-mean": { use: "sequence_mean", empty_rows: "skip" },
    "seq-mean-token-sum-norm": { use: "sequence_sum_norm", budget, empty_rows: "skip" },
  };
  const found = modes[mode];
  if (found === undefined)
    settings.refuse(
      `${actor}.loss_agg_mode`,
      "verl 0.9.1 does not define this mode; token_mean is used instead",
    );
  return found ?? "token_mean";
}

/** Losses that are aggregated in their own way whatever `loss_agg_mode` is, which then holds for KL and entropy only. */
const ownAggregate: Readonly<Record<string, JsonObject>> = {
  sapo: { use: "sequence_mean", empty_rows: "skip" },
  geo_mean: { use: "sequence_mean", empty_rows: "count" },
};

function bonus(settings: Settings, coefficient: number, aggregate: Json): Json {
  if (aggregate === "token_mean") return { coefficient, aggregate };
  settings.refuse(
    `${actor}.entropy_coeff`,
    "Gradus averages the bonus as the loss or over tokens; here as the loss",
  );
  return coefficient;
}

export function readVerlObjective(settings: Settings, aggregate: Json): JsonObject {
  const entropy = settings.need(`${actor}.entropy_coeff`);
  const common = settings.number(`${actor}.clip_ratio`);
  const sides = ["low", "high"].map((side) => settings.peek(`${actor}.clip_ratio_${side}`));
  if (settings.has(`${actor}.clip_ratio`) && !sides.includes(null) && sides.some((side) => side !== common))
    settings.refuse(
      `${actor}.clip_ratio`,
      "verl reads it only where clip_ratio_low or clip_ratio_high is null; they are 0.2 unless written",
    );
  // What the chosen loss does not read changes nothing.
  for (const one of ["low", "high", "c"]) settings.get(`${actor}.clip_ratio_${one}`);
  const mode = settings.text(`${policyLoss}.loss_mode`) ?? "vanilla";
  const bypass = settings.flag(`${correction}.bypass_mode`);
  const own = bypass ? undefined : ownAggregate[mode];
  const loss = bypass ? bypassed(settings) : readLoss(losses, mode, settings);
  if (loss === undefined)
    settings.refuse(
      `${policyLoss}.loss_mode`,
      "verl 0.9.1 does not define this loss; vanilla is used instead",
    );
  return {
    ...(loss ?? readLoss(losses, "vanilla", settings)),
    ...corrections(settings, bypass),
    aggregate: own ?? aggregate,
    ...(entropy === 0 ? {} : { entropy: own === undefined ? entropy : bonus(settings, entropy, aggregate) }),
  };
}

/** `bypass_mode`: the ratio is against the policy that generated the tokens; verl does not compute the trainer's log-probs at generation. */
function bypassed(settings: Settings): JsonObject {
  settings.get(`${policyLoss}.loss_mode`);
  if (settings.text(`${correction}.loss_type`) === "reinforce") return { use: "reinforce" };
  return { ...readLoss(losses, "vanilla", settings), anchor: "sampled" };
}

export function writeVerlObjective({ objective: block, mask, rollout }: StageBody, draft: VerlDraft): void {
  const name = nameOf(block.loss);
  const mode = name === "clipped" ? clipped(block, draft) : writeLoss(losses, block, draft);
  draft.set(`${policyLoss}.loss_mode`, mode ?? "vanilla");
  const bypasses = name === "clipped" && mode === "vanilla";
  missOfRatio(block, bounds, bypasses, draft);
  if (bypasses && block.loss.params["anchor"] === "sampled") draft.set(`${correction}.bypass_mode`, true);
  aggregate(block, nameOfOwn(mode), rollout.max_tokens, draft);
  if (block.aggregate.params["empty_rows"] === "count" && mask.length > 0 && name !== "geo_mean")
    draft.miss(
      "objective.aggregate.empty_rows",
      "count",
      "verl's mean leaves out responses without a token that trains.",
    );
  missOfOthers(block, draft);
  entropy(block, nameOfOwn(mode), draft);
}

function clipped(block: ObjectiveBlock, draft: VerlDraft): string {
  const { params } = block.loss;
  const byToken = (params["ratio"] ?? "token") === "token";
  const mode = byToken ? "vanilla" : "gspo";
  writeLoss(losses, block, draft, mode);
  const cap = lossCap(params, "clip_ratio_c", draft);
  if (byToken)
    draft.set(`${actor}.clip_ratio_c`, Math.max(cap ?? noCap, 1 + (numberOf(params, "high") ?? 0)));
  else missOfGspo(params, cap, draft);
  return mode;
}

/** The normaliser that a loss has whatever is asked for. */
const nameOfOwn = (mode: string | undefined): string | undefined =>
  mode !== undefined && Object.hasOwn(ownAggregate, mode) ? "sequence_mean" : undefined;

const modes: Readonly<Record<string, string>> = {
  token_mean: "token-mean",
  token_sum: "token-sum",
  sequence_sum: "seq-mean-token-sum",
  sequence_mean: "seq-mean-token-mean",
  sequence_sum_norm: "seq-mean-token-sum-norm",
};

function aggregate(
  { aggregate: asked, loss }: ObjectiveBlock,
  only: string | undefined,
  tokens: number,
  draft: VerlDraft,
): void {
  const name = nameOf(asked);
  const mode = modes[name];
  draft.set(`${actor}.loss_agg_mode`, mode ?? "token-mean");
  if (only !== undefined && only !== name)
    draft.miss("objective.aggregate", name, `verl normalises ${nameOf(loss)} by each response's tokens.`);
  else if (mode === undefined)
    draft.miss("objective.aggregate", name, "verl has no such normaliser: it takes the mean over tokens.");
  const budget = numberOf(asked.params, "budget");
  if (name !== "sequence_sum_norm" || budget === undefined || budget === tokens) return;
  if (Number.isInteger(budget)) draft.set(`${actor}.loss_scale_factor`, budget);
  else
    draft.miss("objective.aggregate.budget", budget, "verl divides by a whole number: the longest response.");
}

function entropy(block: ObjectiveBlock, only: string | undefined, draft: VerlDraft): void {
  const { coefficient, aggregate: own } = entropyBonus(block, draft);
  draft.set(`${actor}.entropy_coeff`, coefficient);
  if (own !== "token_mean" || nameOf(block.aggregate) === "token_mean") return;
  if (only !== undefined) draft.set(`${actor}.loss_agg_mode`, "token-mean");
  else draft.miss("objective.entropy.aggregate", "token_mean", "verl normalises the bonus as the loss.");
}
