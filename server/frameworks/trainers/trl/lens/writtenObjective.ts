/** Losses with their aggregates, divergences, masks and corrections: the mirror image of `convert/trlAlgorithm.ts`. */
import type { Json } from "../../../../../shared/lib/json.ts";
import type { StageBody } from "../../../../core/config/resolved.ts";
import { entropyBonus, missOfOthers, numberOf } from "../../../lens/loss.ts";
import type { Batch } from "./batch.ts";
import { nameOf, type Chosen, type TrlDraft } from "./draft.ts";

type ObjectiveBlock = StageBody["objective"];
type Params = Chosen["params"];

/** A loss of TRL, by the one of Gradus. */
type Loss = (draft: TrlDraft, block: ObjectiveBlock, batch: Batch) => void;

/** `loss_type` of the clipped loss, by the aggregate. */
const aggregates: Readonly<Record<string, string>> = {
  sequence_mean: "grpo",
  token_mean: "dapo",
  sequence_sum_norm: "dr_grpo",
  sequence_sum: "luspo",
};

const losses: Readonly<Record<string, Loss>> = {
  clipped(draft, block) {
    const { params } = block.loss;
    const low = numberOf(params, "low") ?? 0.2;
    const high = numberOf(params, "high") ?? low;
    draft.set("loss_type", byAggregate(block, draft));
    draft.set("epsilon", low);
    if (high !== low) draft.set("epsilon_high", high);
    draft.set("delta", delta(params, high, draft));
    ratio(params, draft);
  },
  reinforce(draft, block, batch) {
    draft.set("loss_type", byAggregate(block, draft));
    // In the single update of a generation the ratio is 1: the clipped loss has the policy gradient.
    if (batch.updates > 1)
      draft.miss(
        "objective",
        "reinforce",
        `TRL clips the ratio in the ${batch.updates} updates of a generation, and weights by it.`,
      );
    ratio(block.loss.params, draft);
  },
  cispo(draft, block) {
    const { params } = block.loss;
    draft.set("loss_type", "cispo");
    // TRL's is the cap itself.
    draft.set("epsilon_high", Number(((numberOf(params, "high") ?? Number.MAX_VALUE) + 1).toPrecision(12)));
    if (numberOf(params, "low") !== undefined)
      draft.miss("objective.low", params["low"], "TRL's CISPO has no lower bound on the weight.");
    if (params["one_sided"] === true)
      draft.miss("objective.one_sided", true, "TRL caps the weight whatever the advantage's sign.");
    fixedAggregate(block, "token_mean", draft);
    ratio(params, draft);
  },
  sapo(draft, block) {
    const { params } = block.loss;
    draft.set("loss_type", "sapo");
    draft.set("sapo_temperature_pos", json(params["tau_pos"]));
    draft.set("sapo_temperature_neg", json(params["tau_neg"]));
    fixedAggregate(block, "sequence_mean", draft);
    ratio(params, draft);
  },
  vespo(draft, block) {
    const { params } = block.loss;
    draft.set("loss_type", "vespo");
    for (const key of ["k_pos", "lambda_pos", "k_neg", "lambda_neg"])
      draft.set(`vespo_${key}`, json(params[key]));
    fixedAggregate(block, "token_mean", draft);
  },
};

const json = (value: unknown): Json | undefined =>
  typeof value === "number" || typeof value === "string" || typeof value === "boolean" ? value : undefined;

export function objective(
  { objective: block, rollout, mask }: StageBody,
  batch: Batch,
  draft: TrlDraft,
): void {
  const name = nameOf(block.loss);
  const loss = losses[name];
  if (loss === undefined) {
    draft.set("loss_type", byAggregate(block, draft));
    draft.miss("objective", name, "TRL's GRPO has no such loss: the clipped one trains instead.");
  } else loss(draft, block, batch);
  normaliser(
    block,
    rollout.max_tokens,
    mask.some((one) => nameOf(one) === "overlong"),
    draft,
  );
  missOfOthers(block, draft);
  if (block.value !== undefined)
    draft.miss("objective.value", nameOf(block.value.loss), "TRL's GRPO trains no critic.");
  entropy(block, draft);
}

function byAggregate({ aggregate }: ObjectiveBlock, draft: TrlDraft): string {
  const name = nameOf(aggregate);
  const kind = aggregates[name];
  if (kind === undefined)
    draft.miss("objective.aggregate", name, "TRL has no such normaliser: it takes the mean over tokens.");
  return kind ?? "dapo";
}

/** TRL's normaliser of some losses cannot be chosen. */
function fixedAggregate({ aggregate, loss }: ObjectiveBlock, only: string, draft: TrlDraft): void {
  if (nameOf(aggregate) === only) return;
  draft.miss(
    "objective.aggregate",
    nameOf(aggregate),
    `TRL normalises ${nameOf(loss)} by ${only === "token_mean" ? "the tokens of the step" : "each response's tokens"}.`,
  );
}

/** @param empty whether a response may be without a token that trains */
function normaliser({ aggregate }: ObjectiveBlock, tokens: number, empty: boolean, draft: TrlDraft): void {
  const { params } = aggregate;
  if (empty && params["empty_rows"] === "skip")
    draft.miss("objective.aggregate.empty_rows", "skip", "TRL's mean counts responses that do not train.");
  if (nameOf(aggregate) === "sequence_sum_norm" && (numberOf(params, "budget") ?? tokens) !== tokens)
    draft.miss(
      "objective.aggregate.budget",
      params["budget"],
      `TRL divides by \`max_completion_length\`, ${tokens}.`,
    );
}

/** Above 1 + high a cap on losses is a cap on all ratios: the gains are held at the clip already. */
function delta(params: Params, high: number, draft: TrlDraft): number | undefined {
  const [cap, dual] = [numberOf(params, "delta"), numberOf(params, "dual")];
  if (dual === undefined) return cap;
  if (cap === undefined && dual > 1 + high) return dual;
  draft.miss("objective.dual", dual, "TRL has one cap on the ratio, `delta`.");
  return cap;
}

function ratio(params: Params, draft: TrlDraft): void {
  const { ratio: unit = "token", anchor = "behaviour", clamp_log_ratio: clamp = null } = params;
  if (unit === "sequence") draft.set("importance_sampling_level", "sequence");
  else if (unit !== "token")
    draft.miss("objective.ratio", unit, "TRL's ratio is of each token, or the mean of a response.");
  // The policy before the updates of a step is the one that generated.
  if (anchor !== "behaviour" && anchor !== "proximal")
    draft.miss("objective.anchor", anchor, "TRL's ratio is to the policy that generated.");
  if (clamp !== null) draft.miss("objective.clamp_log_ratio", clamp, "TRL does not bound the log-ratio.");
}

function entropy(block: ObjectiveBlock, draft: TrlDraft): void {
  const { coefficient, aggregate, adaptive } = entropyBonus(block, draft, true);
  if (coefficient !== 0 || adaptive !== undefined) draft.set("entropy_coef", coefficient);
  if (coefficient !== 0 && aggregate === "objective" && nameOf(block.aggregate) !== "token_mean")
    draft.miss(
      "objective.entropy.aggregate",
      "objective",
      "TRL takes the bonus's mean over all tokens of the step.",
    );
  if (adaptive === undefined) return;
  draft.set("use_adaptive_entropy", true);
  draft.set("entropy_target", adaptive.target);
  draft.set("entropy_coef_delta", adaptive.delta);
  draft.set("entropy_coef_min", adaptive.least);
  draft.set("entropy_coef_max", adaptive.most);
}
