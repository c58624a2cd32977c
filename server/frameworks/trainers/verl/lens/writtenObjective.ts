/** Losses with their aggregates: the mirror image of `convert/verlLoss.ts`. */
import type { StageBody } from "../../../../core/config/resolved.ts";
import { nameOf, type Chosen } from "../../../lens/exportDraft.ts";
import type { VerlDraft } from "./draft.ts";
import { actor, correction, policyLoss } from "./keys.ts";

type ObjectiveBlock = StageBody["objective"];
type Params = Chosen["params"];

/** verl's bound on log-ratios: no ratio is above e^20. */
const bound = 20;
/** A cap above every ratio. */
const noCap = 1e9;

const number = (params: Params, key: string): number | undefined => {
  const value = params[key];
  return typeof value === "number" ? value : undefined;
};

function clips(params: Params, draft: VerlDraft): void {
  draft.set(`${actor}.clip_ratio_low`, number(params, "low"));
  draft.set(`${actor}.clip_ratio_high`, number(params, "high"));
}

interface Loss {
  readonly mode: string;
  readonly put?: (params: Params, draft: VerlDraft) => void;
  /** The normaliser that it has whatever is asked for. */
  readonly aggregate?: string;
}

const capped = (params: Params, draft: VerlDraft): void => {
  clips(params, draft);
  draft.set(`${actor}.clip_ratio_c`, number(params, "cap"));
};

const losses: Readonly<Record<string, Loss>> = {
  reinforce: { mode: "gpg" },
  sapo: {
    mode: "sapo",
    aggregate: "sequence_mean",
    put(params, draft) {
      draft.set(`${actor}.tau_pos`, number(params, "tau_pos"));
      draft.set(`${actor}.tau_neg`, number(params, "tau_neg"));
    },
  },
  geo_mean: { mode: "geo_mean", aggregate: "sequence_mean", put: clips },
  clip_cov: {
    mode: "clip_cov",
    put(params, draft) {
      clips(params, draft);
      draft.set(`${policyLoss}.clip_cov_ratio`, number(params, "share"));
      draft.set(`${policyLoss}.clip_cov_lb`, number(params, "least"));
      draft.set(`${policyLoss}.clip_cov_ub`, number(params, "most"));
    },
  },
  kl_cov: {
    mode: "kl_cov",
    put(params, draft) {
      draft.set(`${policyLoss}.kl_cov_ratio`, number(params, "share"));
      draft.set(`${policyLoss}.ppo_kl_coef`, number(params, "coefficient"));
    },
  },
  dro: { mode: "dro", put: (params, draft) => draft.set(`${policyLoss}.dro_beta`, number(params, "beta")) },
  cispo: {
    mode: "cispo",
    put(params, draft) {
      // Beyond 1 it bounds no weight.
      draft.set(`${actor}.clip_ratio_low`, number(params, "low") ?? 2);
      draft.set(`${actor}.clip_ratio_high`, number(params, "high") ?? noCap);
      if (params["one_sided"] === true)
        draft.miss("objective.one_sided", true, "verl caps the weight whatever the advantage's sign.");
    },
  },
  dppo_tv: { mode: "dppo_tv", put: capped },
  dppo_kl: { mode: "dppo_kl", put: capped },
};

function clipped(params: Params, draft: VerlDraft): Loss {
  clips(params, draft);
  const [high, cap] = [number(params, "high") ?? 0, capOf(params, draft)];
  const ratio = params["ratio"] ?? "token";
  if (ratio === "token") {
    draft.set(`${actor}.clip_ratio_c`, Math.max(cap, 1 + high));
    return { mode: "vanilla" };
  }
  if (cap !== noCap) draft.miss("objective.dual", cap, "verl's gspo has no cap on the ratio.");
  if (ratio === "sequence_sum")
    draft.miss("objective.ratio", ratio, "verl's gspo takes the mean over the tokens, not their sum.");
  return { mode: "gspo" };
}

/** Above 1 + high a cap on the ratio is a cap on losses: the gains are held at the clip already. */
function capOf(params: Params, draft: VerlDraft): number {
  const [dual, delta, high] = [number(params, "dual"), number(params, "delta"), number(params, "high") ?? 0];
  if (delta !== undefined && delta <= 1 + high)
    draft.miss("objective.delta", delta, "verl's cap, `clip_ratio_c`, holds losses alone.");
  return Math.min(dual ?? noCap, delta ?? noCap);
}

export function objective({ objective: block, mask, rollout }: StageBody, draft: VerlDraft): void {
  const name = nameOf(block.loss);
  const { params } = block.loss;
  const own = name === "clipped" ? clipped(params, draft) : losses[name];
  if (own === undefined)
    draft.miss("objective", name, "verl has no such loss: the clipped one trains instead.");
  own?.put?.(params, draft);
  draft.set(`${policyLoss}.loss_mode`, own?.mode ?? "vanilla");
  ratio(name, params, draft);
  aggregate(block, own?.aggregate, rollout.max_tokens, draft);
  const { params: normal } = block.aggregate;
  if (normal["empty_rows"] === "count" && mask.length > 0 && name !== "geo_mean")
    draft.miss(
      "objective.aggregate.empty_rows",
      "count",
      "verl's mean leaves out responses without a token that trains.",
    );
  if (block.factor !== 1)
    draft.miss("objective.factor", block.factor, "verl has one loss, and no factor on it.");
  for (const { loss: also } of block.also)
    draft.miss("objective.also", nameOf(also), "verl has one loss: this one is left out.");
  entropy(block, own?.aggregate, draft);
}

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
  const budget = number(asked.params, "budget");
  if (name !== "sequence_sum_norm" || budget === undefined || budget === tokens) return;
  if (Number.isInteger(budget)) draft.set(`${actor}.loss_scale_factor`, budget);
  else
    draft.miss("objective.aggregate.budget", budget, "verl divides by a whole number: the longest response.");
}

function ratio(name: string, params: Params, draft: VerlDraft): void {
  const { ratio: unit = "token", anchor = "behaviour", clamp_log_ratio: clamp = null } = params;
  if (unit !== "token" && name !== "clipped")
    draft.miss("objective.ratio", unit, `verl's ${name} is by token.`);
  // The policy before the updates of a step is the one that generated.
  if (anchor === "sampled" && name === "clipped" && unit === "token")
    draft.set(`${correction}.bypass_mode`, true);
  else if (anchor !== "behaviour" && anchor !== "proximal")
    draft.miss("objective.anchor", anchor, "verl's ratio is to the policy before the updates of the step.");
  const high =
    typeof clamp === "number" ? clamp : clamp === null ? bound : Number(Object(clamp)["high"] ?? bound);
  if (high < (unit === "token" ? bound : 10))
    draft.miss(
      "objective.clamp_log_ratio",
      clamp,
      "verl bounds log-ratios by 20, and those of sequences by 10.",
    );
}

function entropy(
  { entropy: bonus, aggregate: asked }: ObjectiveBlock,
  only: string | undefined,
  draft: VerlDraft,
): void {
  const key = `${actor}.entropy_coeff`;
  if (typeof bonus === "number" || "schedule" in bonus)
    return draft.set(key, draft.constant("objective.entropy", bonus));
  draft.set(key, draft.constant("objective.entropy.coefficient", bonus.coefficient));
  const { share, low, high, adaptive } = bonus;
  if (share !== 1 || low !== undefined || high !== undefined)
    draft.miss("objective.entropy", { share, low, high }, "verl's bonus acts on all tokens.");
  if (adaptive !== undefined)
    draft.miss("objective.entropy.adaptive", adaptive, "verl's coefficient does not adapt.");
  if (bonus.aggregate !== "token_mean" || nameOf(asked) === "token_mean") return;
  if (only !== undefined) draft.set(`${actor}.loss_agg_mode`, "token-mean");
  else draft.miss("objective.entropy.aggregate", "token_mean", "verl normalises the bonus as the loss.");
}
