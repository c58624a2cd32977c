/** Losses, their ratios and the entropy bonus: the mirror image of `convert/skyrl/loss.ts`. */
import type { StageBody } from "../../../../core/config/resolved.ts";
import { nameOf, type Chosen } from "../../../lens/exportDraft.ts";
import type { Batch } from "../../../lens/groupBatch.ts";
import { rolloutWeights } from "./writtenCorrection.ts";
import type { SkyrlDraft } from "./draft.ts";
import { algorithm, sampling } from "./keys.ts";
import { normaliser } from "./writtenNormaliser.ts";

type ObjectiveBlock = StageBody["objective"];
type Params = Chosen["params"];

/** SkyRL's bounds on log-ratios of tokens and of sequences: no ratio is above e^20, or e^10. */
const [tokenBound, sequenceBound] = [20, 10];
/** A bound above every ratio. */
const noBound = 1e9;

const number = (params: Params, key: string): number | undefined => {
  const value = params[key];
  return typeof value === "number" ? value : undefined;
};

function clips(params: Params, draft: SkyrlDraft): void {
  draft.set(`${algorithm}.eps_clip_low`, number(params, "low"));
  draft.set(`${algorithm}.eps_clip_high`, number(params, "high"));
}

interface Loss {
  readonly type: string;
  readonly put?: (params: Params, draft: SkyrlDraft) => void;
}

const losses: Readonly<Record<string, Loss>> = {
  // A weight between 1 and 1 is none.
  reinforce: {
    type: "cispo",
    put(_, draft) {
      draft.set(`${algorithm}.cispo.cispo_eps_clip_low`, 0);
      draft.set(`${algorithm}.cispo.cispo_eps_clip_high`, 0);
    },
  },
  cispo: {
    type: "cispo",
    put(params, draft) {
      // From 1 on it bounds no weight.
      draft.set(`${algorithm}.cispo.cispo_eps_clip_low`, number(params, "low") ?? 1);
      draft.set(`${algorithm}.cispo.cispo_eps_clip_high`, number(params, "high") ?? noBound);
      if (params["one_sided"] === true)
        draft.miss("objective.one_sided", true, "SkyRL bounds the weight whatever the advantage's sign.");
    },
  },
  sapo: {
    type: "sapo",
    put(params, draft) {
      draft.set(`${algorithm}.sapo.tau_pos`, number(params, "tau_pos"));
      draft.set(`${algorithm}.sapo.tau_neg`, number(params, "tau_neg"));
    },
  },
  clip_cov: {
    type: "clip_cov",
    put(params, draft) {
      clips(params, draft);
      draft.set(`${algorithm}.clip_cov.clip_ratio`, number(params, "share"));
      draft.set(`${algorithm}.clip_cov.clip_cov_lb`, number(params, "least"));
      draft.set(`${algorithm}.clip_cov.clip_cov_ub`, number(params, "most"));
      ofMicroBatches("clip_cov", draft);
    },
  },
  kl_cov: {
    type: "kl_cov",
    put(params, draft) {
      draft.set(`${algorithm}.kl_cov.kl_cov_frac`, number(params, "share"));
      draft.set(`${algorithm}.kl_cov.ppo_kl_coef`, number(params, "coefficient"));
      ofMicroBatches("kl_cov", draft);
    },
  },
  dppo_tv: { type: "dppo", put: (params, draft) => dppo("binary_tv", params, draft) },
  dppo_kl: { type: "dppo", put: (params, draft) => dppo("binary_kl", params, draft) },
};

const ofMicroBatches = (name: string, draft: SkyrlDraft): void =>
  draft.miss(
    "objective",
    name,
    `SkyRL's ${name} reads the covariance of each micro-batch by itself, and of advantages that the normaliser has divided already.`,
  );

function dppo(type: string, params: Params, draft: SkyrlDraft): void {
  draft.set(`${algorithm}.dppo.dppo_type`, type);
  draft.set(`${algorithm}.dppo.delta_low`, number(params, "low"));
  draft.set(`${algorithm}.dppo.delta_high`, number(params, "high"));
  const cap = number(params, "cap");
  if (cap !== undefined && cap < noBound)
    draft.miss("objective.cap", cap, "SkyRL's dppo has no cap on the ratio.");
  // Where the sampler says its log-probs, the ratio is to them.
  if (params["anchor"] !== "sampled") draft.set(`${sampling}.logprobs`, null);
}

function clipped(params: Params, draft: SkyrlDraft): Loss {
  clips(params, draft);
  const [high, dual, delta] = [number(params, "high") ?? 0, number(params, "dual"), number(params, "delta")];
  const ratio = params["ratio"] ?? "token";
  if (delta !== undefined && delta <= 1 + high)
    draft.miss("objective.delta", delta, "SkyRL's cap, `clip_ratio_c`, holds losses alone.");
  const cap = Math.min(dual ?? noBound, delta ?? noBound);
  if (ratio !== "token") {
    if (cap !== noBound) draft.miss("objective.dual", cap, "SkyRL's gspo has no cap on the ratio.");
    if (ratio === "sequence_sum")
      draft.miss("objective.ratio", ratio, "SkyRL's gspo takes the mean over the tokens, not their sum.");
    return { type: "gspo" };
  }
  if (cap === noBound) return { type: "regular" };
  draft.set(`${algorithm}.clip_ratio_c`, Math.max(cap, 1 + high));
  return { type: "dual_clip" };
}

export function objective(body: StageBody, batch: Batch, draft: SkyrlDraft): void {
  const { objective: block } = body;
  const [name, { params }] = [nameOf(block.loss), block.loss];
  const rollout = name === "reinforce" ? rolloutWeights(block.correction) : undefined;
  if (rollout === undefined) named(name, params, draft);
  else {
    draft.set(`${algorithm}.policy_loss_type`, "rollout_is");
    draft.set(`${algorithm}.eps_clip_low`, rollout.low);
    draft.set(`${algorithm}.eps_clip_high`, rollout.high);
  }
  ratio(name, params, draft);
  normaliser(body, batch, draft);
  if (block.factor !== 1)
    draft.miss("objective.factor", block.factor, "SkyRL has one loss, and no factor on it.");
  for (const { loss: also } of block.also)
    draft.miss("objective.also", nameOf(also), "SkyRL has one loss: this one is left out.");
  entropy(block, draft);
}

function named(name: string, params: Params, draft: SkyrlDraft): void {
  const own = name === "clipped" ? clipped(params, draft) : losses[name];
  if (own === undefined)
    draft.miss("objective", name, "SkyRL has no such loss: the clipped one trains instead.");
  own?.put?.(params, draft);
  draft.set(`${algorithm}.policy_loss_type`, own?.type ?? "regular");
}

function ratio(name: string, params: Params, draft: SkyrlDraft): void {
  const { ratio: unit = "token", anchor = "behaviour", clamp_log_ratio: clamp = null } = params;
  if (unit !== "token" && name !== "clipped")
    draft.miss("objective.ratio", unit, `SkyRL's ${name} is by token.`);
  const sampled = anchor === "sampled" && name.startsWith("dppo");
  if (anchor !== "behaviour" && anchor !== "proximal" && !sampled)
    draft.miss(
      "objective.anchor",
      anchor,
      `SkyRL's ${name === "clipped" ? "ratio" : name} is to the policy before the updates of the step.`,
    );
  const bound = unit === "token" ? tokenBound : sequenceBound;
  const high =
    typeof clamp === "number" ? clamp : clamp === null ? bound : Number(Object(clamp)["high"] ?? bound);
  if (high < bound)
    draft.miss("objective.clamp_log_ratio", clamp, `SkyRL bounds this log-ratio by ${bound}.`);
}

/** SkyRL takes its mean over the tokens of a micro-batch, which is one response unless its size is set. */
function entropy({ entropy: bonus, aggregate }: ObjectiveBlock, draft: SkyrlDraft): void {
  const plain = typeof bonus === "number" || "schedule" in bonus;
  const coefficient = plain
    ? draft.constant("objective.entropy", bonus)
    : draft.constant("objective.entropy.coefficient", bonus.coefficient);
  if (coefficient === 0) return;
  draft.set(`${algorithm}.use_entropy_loss`, true);
  draft.set(`${algorithm}.entropy_loss_coef`, coefficient);
  const own = plain ? "objective" : bonus.aggregate;
  if (own === "token_mean" || nameOf(aggregate) !== "sequence_mean")
    draft.miss(
      "objective.entropy.aggregate",
      own === "objective" ? nameOf(aggregate) : own,
      "SkyRL averages the bonus over each response's tokens, then over responses.",
    );
  if (plain) return;
  const { share, low, high, adaptive } = bonus;
  if (share !== 1 || low !== undefined || high !== undefined)
    draft.miss("objective.entropy", { share, low, high }, "SkyRL's bonus acts on all tokens.");
  if (adaptive !== undefined)
    draft.miss("objective.entropy.adaptive", adaptive, "SkyRL's coefficient does not adapt.");
}
