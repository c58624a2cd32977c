/** SkyRL's losses, both ways, with their bonus. */
import type { Json, JsonObject } from "../../../../../shared/lib/json.ts";
import type { StageBody } from "../../../../core/config/resolved.ts";
import { nameOf } from "../../../lens/exportDraft.ts";
import type { Batch } from "../../../lens/groupBatch.ts";
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
import { corrections, rolloutWeights } from "./correction.ts";
import type { SkyrlDraft } from "./draft.ts";
import { algorithm, sampling } from "./keys.ts";
import { rolloutWeights as writtenWeights } from "./writtenCorrection.ts";
import { normaliser } from "./writtenNormaliser.ts";

type ObjectiveBlock = StageBody["objective"];

/** Beyond it nothing is bounded. */
const noBound = 1e9;
/** SkyRL's bounds on log-ratios of tokens and of sequences: no ratio is above e^20, or e^10. */
const bounds = [20, 10] as const;
const chooses = `${algorithm}.policy_loss_type`;
const dppoType = `${algorithm}.dppo.dppo_type`;
const clips: JsonObject = {
  low: key(`${algorithm}.eps_clip_low`),
  high: key(`${algorithm}.eps_clip_high`),
};
const dppo: JsonObject = {
  low: key(`${algorithm}.dppo.delta_low`),
  high: key(`${algorithm}.dppo.delta_high`),
  cap: null,
  clamp_log_ratio: 20,
};
const cispo = ["low", "high"].map((side) => `${algorithm}.cispo.cispo_eps_clip_${side}`);
const [cispoLow = "", cispoHigh = ""] = cispo;

const losses: LossLens = {
  regular: { use: "clipped", ...clips, clamp_log_ratio: 20 },
  dual_clip: {
    use: "clipped",
    ...clips,
    dual: key(`${algorithm}.clip_ratio_c`),
    clamp_log_ratio: 20,
  },
  gspo: { use: "clipped", ...clips, ratio: "sequence_token", clamp_log_ratio: { high: 10 } },
  // Nothing is clipped.
  importance_sampling: { use: "clipped", low: 1, high: noBound },
  cispo: {
    use: "cispo",
    // From 1 on it bounds no weight.
    low: key(cispoLow, { unbounded: 1, from: 1 }),
    high: key(cispoHigh, { unbounded: noBound, from: noBound }),
    clamp_log_ratio: 20,
  },
  sapo: {
    use: "sapo",
    tau_pos: key(`${algorithm}.sapo.tau_pos`),
    tau_neg: key(`${algorithm}.sapo.tau_neg`),
    clamp_log_ratio: 20,
  },
  rollout_is: { use: "reinforce" },
  binary_tv: { use: "dppo_tv", ...dppo },
  binary_kl: { use: "dppo_kl", ...dppo },
  clip_cov: {
    use: "clip_cov",
    ...clips,
    share: key(`${algorithm}.clip_cov.clip_ratio`),
    least: key(`${algorithm}.clip_cov.clip_cov_lb`),
    most: key(`${algorithm}.clip_cov.clip_cov_ub`),
  },
  kl_cov: {
    use: "kl_cov",
    share: key(`${algorithm}.kl_cov.kl_cov_frac`),
    coefficient: key(`${algorithm}.kl_cov.ppo_kl_coef`),
  },
};
const isCovariance = (name: string): boolean => name === "clip_cov" || name === "kl_cov";

/** How SkyRL aggregates by `loss_reduction`: it counts responses without a token that trains. */
export function aggregateOf(settings: Settings): Json {
  const name = settings.text(`${algorithm}.loss_reduction`) ?? "token_mean";
  const length = settings.number(`${algorithm}.max_seq_len`);
  const summed: Json =
    length === 1
      ? { use: "sequence_sum", empty_rows: "count" }
      : {
          use: "sequence_sum_norm",
          ...(length === undefined ? {} : { budget: length }),
          empty_rows: "count",
        };
  const reductions: Readonly<Record<string, Json>> = {
    token_mean: "token_mean",
    sequence_mean: { use: "sequence_mean", empty_rows: "count" },
    seq_mean_token_sum_norm: summed,
  };
  const found = reductions[name];
  if (found === undefined)
    settings.refuse(
      `${algorithm}.loss_reduction`,
      name === "prompt_mean" || name === "token_mean_legacy"
        ? "Gradus has no normaliser by prompt or micro-batch; token_mean is used instead"
        : "SkyRL 0.3.0 does not define this normaliser; token_mean is used instead",
    );
  return found ?? "token_mean";
}

export const isByResponse = (aggregate: Json): boolean =>
  JSON.stringify(aggregate).includes('"sequence_mean"');

export function readSkyrlObjective(settings: Settings, aggregate: Json): JsonObject {
  const type = settings.text(`${algorithm}.policy_loss_type`) ?? "regular";
  const loss = readNamed(type, settings);
  // What the chosen loss does not read changes nothing.
  for (const key of unread) settings.get(`${algorithm}.${key}`);
  if (loss === undefined)
    settings.refuse(
      `${algorithm}.policy_loss_type`,
      type === "cross_entropy"
        ? "this trains on given answers: see `kind: sft` of a stage; the clipped loss is used instead"
        : "SkyRL 0.3.0 does not define this loss; the clipped one is used instead",
    );
  const list = type === "rollout_is" ? rolloutWeights(settings) : corrections(settings);
  return {
    ...(loss ?? readNamed("regular", settings)),
    ...(list.length === 0 ? {} : { correction: list }),
    aggregate,
    ...readEntropy(settings, aggregate),
  };
}

const unread = [
  ...["eps_clip_low", "eps_clip_high", "clip_ratio_c"],
  ...["sapo.tau_pos", "sapo.tau_neg", "cispo.cispo_eps_clip_low", "cispo.cispo_eps_clip_high"],
  ...["clip_cov.clip_ratio", "clip_cov.clip_cov_lb", "clip_cov.clip_cov_ub"],
  ...["kl_cov.kl_cov_frac", "kl_cov.ppo_kl_coef", "dppo.dppo_type", "dppo.delta_low", "dppo.delta_high"],
];

/** By the name of `policy_loss_type`. */
function readNamed(type: string, settings: Settings): JsonObject | undefined {
  if (type === "dppo") return readDppo(settings);
  if (type.startsWith("binary_")) return undefined;
  // A weight between 1 and 1 is none.
  if (type === "cispo" && cispo.every((one) => settings.need(one) === 0)) return { use: "reinforce" };
  if (isCovariance(type))
    settings.refuse(
      chooses,
      "SkyRL reads the covariance of each micro-batch by itself, and of advantages that the normaliser has divided; Gradus that of an update",
    );
  return readLoss(losses, type, settings);
}

/** Where the sampler says its log-probs, the ratio is to them. */
function readDppo(settings: Settings): JsonObject {
  const type = settings.text(dppoType) === "binary_kl" ? "binary_kl" : "binary_tv";
  const sampled = settings.get(`${sampling}.logprobs`) !== null;
  return { ...readLoss(losses, type, settings), ...(sampled ? { anchor: "sampled" } : {}) };
}

function readEntropy(settings: Settings, aggregate: Json): JsonObject {
  const [use, key] = [`${algorithm}.use_entropy_loss`, `${algorithm}.entropy_loss_coef`];
  const coefficient = settings.need(key);
  if (!settings.flag(use) || coefficient === 0) return {};
  if (!isByResponse(aggregate))
    settings.refuse(key, "SkyRL averages the bonus by micro-batch, that is by response; here as the loss");
  return { entropy: coefficient };
}

export function writeSkyrlObjective(body: StageBody, batch: Batch, draft: SkyrlDraft): void {
  const { objective: block } = body;
  const [name, { params }] = [nameOf(block.loss), block.loss];
  draft.set(chooses, writeNamed(block, draft) ?? "regular");
  missOfRatio(block, bounds, name.startsWith("dppo"), draft);
  if (name.startsWith("dppo") && params["anchor"] !== "sampled") draft.set(`${sampling}.logprobs`, null);
  normaliser(body, batch, draft);
  missOfOthers(block, draft);
  writeEntropy(block, draft);
}

function writeNamed(block: ObjectiveBlock, draft: SkyrlDraft): string | undefined {
  const { params } = block.loss;
  const name = nameOf(block.loss);
  if (name === "clipped") return writeClipped(block, draft);
  if (name === "reinforce") return writeReinforce(block, draft);
  const written = writeLoss(losses, block, draft);
  if (isCovariance(name))
    draft.miss(
      "objective",
      name,
      `SkyRL's ${name} reads the covariance of each micro-batch by itself, and of advantages that the normaliser has divided already.`,
    );
  if (written?.startsWith("binary_") !== true) return written;
  draft.set(dppoType, written);
  const cap = numberOf(params, "cap");
  if (cap !== undefined && cap < noBound)
    draft.miss("objective.cap", cap, "SkyRL's dppo has no cap on the ratio.");
  return "dppo";
}

/** A weight between 1 and 1 is none. */
function writeReinforce({ correction }: ObjectiveBlock, draft: SkyrlDraft): string {
  const rollout = writtenWeights(correction);
  if (rollout === undefined) {
    for (const one of cispo) draft.set(one, 0);
    return "cispo";
  }
  draft.set(`${algorithm}.eps_clip_low`, rollout.low);
  draft.set(`${algorithm}.eps_clip_high`, rollout.high);
  return "rollout_is";
}

function writeClipped(block: ObjectiveBlock, draft: SkyrlDraft): string {
  const { params } = block.loss;
  const cap = lossCap(params, "clip_ratio_c", draft);
  const byToken = (params["ratio"] ?? "token") === "token";
  const bounded = cap !== undefined && cap < noBound;
  const type = byToken ? (bounded ? "dual_clip" : "regular") : "gspo";
  writeLoss(losses, block, draft, type);
  if (!byToken) missOfGspo(params, bounded ? cap : undefined, draft);
  else if (bounded)
    draft.set(`${algorithm}.clip_ratio_c`, Math.max(cap, 1 + (numberOf(params, "high") ?? 0)));
  return type;
}

/** SkyRL takes its mean over the tokens of a micro-batch, which is one response unless its size is set. */
function writeEntropy(block: ObjectiveBlock, draft: SkyrlDraft): void {
  const { coefficient, aggregate: own } = entropyBonus(block, draft);
  if (coefficient === 0) return;
  draft.set(`${algorithm}.use_entropy_loss`, true);
  draft.set(`${algorithm}.entropy_loss_coef`, coefficient);
  const normaliserName = nameOf(block.aggregate);
  if (own === "token_mean" || normaliserName !== "sequence_mean")
    draft.miss(
      "objective.entropy.aggregate",
      own === "objective" ? normaliserName : own,
      "SkyRL averages the bonus over each response's tokens, then over responses.",
    );
}
