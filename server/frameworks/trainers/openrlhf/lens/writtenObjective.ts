/** Losses with their aggregates: the mirror image of `convert/openrlhfAlgorithm.ts`. */
import type { StageBody } from "../../../../core/config/resolved.ts";
import { nameOf, type Chosen } from "../../../lens/exportDraft.ts";
import { entropyBonus, lossCap, missOfOthers, numberOf } from "../../../lens/loss.ts";
import type { Batch } from "./batch.ts";
import type { OpenRlhfDraft } from "./draft.ts";

type ObjectiveBlock = StageBody["objective"];
type Params = Chosen["params"];

/** OpenRLHF's bound on the log-ratios of tokens. */
const bound = 20;

/** @param byToken advantages differ within a response */
export function objective(body: StageBody, batch: Batch, byToken: boolean, draft: OpenRlhfDraft): void {
  const { objective: block, mask } = body;
  const name = nameOf(block.loss);
  const { params } = block.loss;
  if (name === "clipped") {
    clipped(params, draft);
    clamp(params["clamp_log_ratio"] ?? null, (params["ratio"] ?? "token") !== "token", draft);
  } else if (name !== "reinforce")
    draft.miss("objective", name, "OpenRLHF has no such loss: the clipped one trains instead.");
  else if (batch.updates > 1)
    // In the single update of a step the ratio is 1: the clipped loss has the policy gradient.
    draft.miss(
      "objective",
      name,
      `OpenRLHF clips the ratio in the ${batch.updates} updates of a step, and weights by it.`,
    );
  const isSequence = ratio(params, byToken, draft);
  aggregate(block, isSequence, draft);
  if (block.aggregate.params["empty_rows"] === "count" && mask.length > 0)
    draft.miss(
      "objective.aggregate.empty_rows",
      "count",
      "OpenRLHF's mean leaves out responses without a token that trains.",
    );
  missOfOthers(block, draft);
  entropy(block, draft);
}

function clipped(params: Params, draft: OpenRlhfDraft): void {
  const [low, high] = [numberOf(params, "low") ?? 0.2, numberOf(params, "high") ?? 0.2];
  draft.set("actor.eps_clip_low_high", [low, high]);
  const cap = lossCap(params, "dual_clip", draft);
  if (cap !== undefined && cap > 1) draft.set("actor.dual_clip", cap);
}

/** @returns whether the ratio is of whole responses */
function ratio(params: Params, byToken: boolean, draft: OpenRlhfDraft): boolean {
  const { ratio: unit = "token", anchor = "behaviour" } = params;
  const isSequence = unit !== "token";
  if (isSequence) draft.set("actor.policy_loss_type", "gspo");
  if (unit === "sequence_sum")
    draft.miss("objective.ratio", unit, "OpenRLHF's gspo takes the mean over the tokens, not their sum.");
  if (unit === "sequence_token" && byToken)
    draft.miss("objective.ratio", unit, "The gradient of OpenRLHF's gspo goes through all tokens.");
  // The correction's level is what makes gspo's ratio one to vLLM's probabilities; its bounds are not read.
  if (anchor === "sampled" && isSequence) draft.set("algo.advantage.is_correction_level", "token");
  else if (anchor !== "behaviour" && anchor !== "proximal")
    draft.miss(
      "objective.anchor",
      anchor,
      "OpenRLHF's ratio is to the policy before the updates of the step.",
    );
  return isSequence;
}

function clamp(value: unknown, isSequence: boolean, draft: OpenRlhfDraft): void {
  const key = "objective.clamp_log_ratio";
  if (isSequence) {
    if (value !== null) draft.miss(key, value, "OpenRLHF's gspo does not bound log-ratios.", "guard");
    return;
  }
  const least = typeof value === "number" ? value : value === null ? bound : narrowest(value);
  if (least < bound) draft.miss(key, value, `OpenRLHF bounds log-ratios by ${bound}.`);
  else if (value !== bound) draft.miss(key, value, `OpenRLHF bounds log-ratios by ${bound}.`, "guard");
}

const narrowest = (value: unknown): number => {
  const { low = -bound, high = bound } = Object(value) as { low?: number; high?: number };
  return Math.min(-low, high);
};

function aggregate({ aggregate: asked }: ObjectiveBlock, isSequence: boolean, draft: OpenRlhfDraft): void {
  const name = nameOf(asked);
  if (!isSequence)
    draft.set("actor.loss_agg_mode", name === "sequence_mean" ? "seq-mean-token-mean" : "token-mean");
  if (isSequence && name !== "sequence_mean")
    draft.miss("objective.aggregate", name, "OpenRLHF's gspo normalises by each response's tokens.");
  else if (name !== "sequence_mean" && name !== "token_mean")
    draft.miss(
      "objective.aggregate",
      name,
      "OpenRLHF has no such normaliser: it takes the mean over tokens.",
    );
}

function entropy(block: ObjectiveBlock, draft: OpenRlhfDraft): void {
  const { coefficient, aggregate } = entropyBonus(block, draft);
  if (coefficient === 0) return;
  draft.set("actor.entropy_coef", coefficient);
  if (aggregate !== "token_mean" && nameOf(block.aggregate) !== "token_mean")
    draft.miss("objective.entropy.aggregate", aggregate, "OpenRLHF's bonus is a mean over tokens.");
}
