/** From rewards to advantages: TRL subtracts the group's mean, and divides by a standard deviation or by nothing. */
import type { StageBody } from "../../../../core/config/resolved.ts";
import { nameOf, type Chosen, type TrlDraft } from "./draft.ts";

/** What TRL adds to a standard deviation. */
const epsilon = 1e-4;

export interface AdvantagePlan {
  /** Factor on every reward that makes up for another baseline. */
  readonly factor: number;
}

export function advantage({ advantage, rollout }: StageBody, draft: TrlDraft): AdvantagePlan {
  const { baseline, scale } = advantage;
  if (isDecoupled(advantage)) {
    draft.set("scale_rewards", "group");
    draft.set("multi_objective_aggregation", "normalize_then_sum");
  } else {
    draft.set("scale_rewards", scaling(scale, draft));
    others(advantage, draft);
  }
  return { factor: centring(baseline, nameOf(scale), rollout.group, draft) };
}

type AdvantageBlock = StageBody["advantage"];

/** GDPO: each term is centred and scaled by itself, and the sum is whitened over the batch. */
function isDecoupled({ per_source, whiten, scale }: AdvantageBlock): boolean {
  return (
    per_source &&
    nameOf(scale) === "group_std" &&
    typeof whiten === "object" &&
    whiten.over === "responses" &&
    (whiten.inside ?? "deviation") === "deviation" &&
    whiten.center &&
    whiten.scale &&
    !whiten.population
  );
}

/** A leave-one-out baseline is the group's mean times G / (G − 1) where nothing is divided by. */
function centring(baseline: Chosen, scale: string, group: number, draft: TrlDraft): number {
  const name = nameOf(baseline);
  if (name === "group_mean") return 1;
  if (name === "leave_one_out") {
    if (scale === "none") return group / (group - 1);
    if (scale === "group_std")
      draft.miss(
        "advantage.baseline",
        name,
        `TRL subtracts the mean of the whole group: advantages are smaller by ${group - 1}/${group}.`,
      );
    return 1;
  }
  draft.miss("advantage.baseline", name, "TRL subtracts the mean reward of the group.");
  return 1;
}

function scaling(scale: Chosen, draft: TrlDraft): string {
  const { params } = scale;
  const name = nameOf(scale);
  if (name === "none") return "none";
  if (name !== "group_std" && name !== "batch_std") {
    draft.miss("advantage.scale", name, "TRL divides by the standard deviation of the group's rewards.");
    return "group";
  }
  if (params["epsilon"] !== epsilon)
    draft.miss(
      "advantage.scale.epsilon",
      params["epsilon"],
      `TRL adds ${epsilon} to the standard deviation.`,
    );
  if (params["population"] === true)
    draft.miss("advantage.scale.population", true, "TRL's standard deviation divides by n − 1.");
  if (params["of"] === "advantages")
    draft.miss("advantage.scale.of", "advantages", "TRL takes the standard deviation of the rewards.");
  return name === "batch_std" ? "batch" : "group";
}

/** What follows in Gradus, and does not in TRL. */
function others(advantage: AdvantageBlock, draft: TrlDraft): void {
  const { level, per_source, whiten, filter, clip, sign, token_weights: weights } = advantage;
  const miss = (key: string, value: unknown, reason: string): void =>
    draft.miss(`advantage.${key}`, value, reason);
  if (level !== "auto" && level !== "response")
    miss("level", level, "TRL has one advantage for a whole response.");
  if (per_source) miss("per_source", true, "TRL sums the weighted terms before it centres them.");
  if (whiten !== "none") miss("whiten", whiten, "TRL does not standardise finished advantages.");
  if (filter !== "none") miss("filter", filter, "TRL trains on all completions.");
  if (clip !== "none") miss("clip", clip, "TRL does not bound advantages.");
  if (sign.positive !== 1 || sign.negative !== 1)
    miss("sign", sign, "TRL weights advantages of both signs alike.");
  for (const one of weights)
    miss("token_weights", one.declaration.name, "TRL weights all tokens of a response alike.");
}
