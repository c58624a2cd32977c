/** From rewards to advantages: verl's estimators by what they do. The mirror image of `convert/verlAdvantage.ts`. */
import type { StageBody } from "../../../../core/config/resolved.ts";
import { nameOf, type Chosen } from "../../../lens/exportDraft.ts";
import type { VerlDraft } from "./draft.ts";
import { actor, correction } from "./keys.ts";

type AdvantageBlock = StageBody["advantage"];

/** What verl adds to a group's standard deviation. */
const epsilon = 1e-6;

interface Estimator {
  readonly name: string;
  readonly baseline: string;
  /** either: with and without `norm_adv_by_std_in_grpo`. */
  readonly scale: "none" | "either" | "nonzero_share";
  /** By token, discounted by gamma, where it is not by response. */
  readonly token?: true;
  readonly whiten?: true;
  readonly apart?: true;
}

const estimators: readonly Estimator[] = [
  { name: "gae", baseline: "critic", scale: "none", token: true, whiten: true },
  { name: "gdpo", baseline: "group_mean", scale: "either", whiten: true, apart: true },
  { name: "reinforce_plus_plus_baseline", baseline: "group_mean", scale: "none", whiten: true },
  { name: "grpo", baseline: "group_mean", scale: "either" },
  { name: "gpg", baseline: "group_mean", scale: "nonzero_share" },
  { name: "rloo", baseline: "leave_one_out", scale: "none" },
  { name: "grpo_passk", baseline: "best_minus_second", scale: "either" },
  { name: "reinforce_plus_plus", baseline: "none", scale: "none", token: true, whiten: true },
  { name: "remax", baseline: "greedy", scale: "none", token: true },
  { name: "opo", baseline: "opo", scale: "none" },
  { name: "optimal_token_baseline", baseline: "optimal_token_baseline", scale: "none", token: true },
];
const usual = estimators.find(({ name }) => name === "grpo")!;

/** @returns the estimator's name */
export function advantage({ advantage: block }: StageBody, draft: VerlDraft): string {
  const [baseline, scale] = [nameOf(block.baseline), nameOf(block.scale)];
  const whitens = block.whiten !== "none";
  const fits = (one: Estimator): number =>
    Number(scale === "none" || scale === one.scale || (scale === "group_std" && one.scale === "either")) +
    Number(whitens === (one.whiten ?? false)) +
    Number(block.per_source === (one.apart ?? false));
  const own = estimators.filter((one) => one.baseline === baseline).toSorted((a, b) => fits(b) - fits(a))[0];
  const chosen = own ?? usual;
  if (own === undefined)
    draft.miss("advantage.baseline", baseline, "verl has no such baseline: it subtracts the group's mean.");
  draft.set("algorithm.adv_estimator", nameIn(chosen, block.baseline));
  scaling(block.scale, chosen, draft);
  levels(block, chosen, draft);
  if (baseline === "critic") lambda(block.baseline.params, draft);
  if (baseline === "optimal_token_baseline") optimal(block.baseline.params, draft);
  others(block, chosen, draft);
  return chosen.name;
}

const nameIn = ({ name }: Estimator, { params }: Chosen): string =>
  name === "optimal_token_baseline" && params["align"] === "trained" ? `tir_${name}` : name;

function scaling({ declaration: { name }, params }: Chosen, chosen: Estimator, draft: VerlDraft): void {
  if (chosen.scale === "either") draft.set("algorithm.norm_adv_by_std_in_grpo", name !== "none");
  if (chosen.scale === "nonzero_share") {
    if (params["norm"] !== 1) draft.miss("advantage.scale.norm", params["norm"], "verl's gpg has none.");
    return;
  }
  if (name === "none") return;
  if (name !== "group_std" || chosen.scale === "none")
    return draft.miss(
      "advantage.scale",
      name,
      chosen.scale === "none"
        ? `verl's ${chosen.name} divides by nothing.`
        : "verl divides by the standard deviation of the group's rewards.",
    );
  if (params["epsilon"] !== epsilon)
    draft.miss(
      "advantage.scale.epsilon",
      params["epsilon"],
      `verl adds ${epsilon} to the standard deviation.`,
      "guard",
    );
  if (params["population"] === true)
    draft.miss("advantage.scale.population", true, "verl's standard deviation divides by n − 1.");
  if (params["of"] === "advantages")
    draft.miss("advantage.scale.of", "advantages", "verl takes the standard deviation of the rewards.");
}

function levels({ level, gamma, returns }: AdvantageBlock, chosen: Estimator, draft: VerlDraft): void {
  const [reads, wanted] = [chosen.token === true, level === "auto" ? undefined : level];
  // A critic, and what is made for tokens, works on them where the level is `auto`.
  if (wanted !== undefined && wanted !== (reads ? "token" : "response"))
    draft.miss(
      "advantage.level",
      level,
      `verl's ${chosen.name} works on ${reads ? "tokens" : "whole responses"}.`,
    );
  if (!reads) return;
  const discount = draft.constant("advantage.gamma", gamma);
  if (chosen.name === "gae" || chosen.name === "reinforce_plus_plus") draft.set("algorithm.gamma", discount);
  else if (discount !== 1) draft.miss("advantage.gamma", discount, `verl's ${chosen.name} has no discount.`);
  const order = chosen.name === "remax" ? "before" : "after";
  if (returns !== order && chosen.name !== "gae" && level !== "auto")
    draft.miss(
      "advantage.returns",
      returns,
      `verl's ${chosen.name} sums later tokens ${order} the baseline.`,
    );
}

function lambda(params: Chosen["params"], draft: VerlDraft): void {
  const own = params["lambda"];
  if (typeof own === "number") draft.set("algorithm.lam", own);
  else draft.miss("advantage.baseline.lambda", own, "verl's λ is one number: it stays at 1.");
  if (params["lambda_returns"] !== undefined && params["lambda_returns"] !== own)
    draft.miss(
      "advantage.baseline.lambda_returns",
      params["lambda_returns"],
      "verl's critic learns returns of the same λ.",
    );
  if (params["gamma"] !== undefined)
    draft.miss("advantage.baseline.gamma", params["gamma"], "verl has one discount: `advantage.gamma`.");
  if (params["truncated"] !== "zero")
    draft.miss("advantage.baseline.truncated", params["truncated"], "In verl 0 follows every response.");
}

function optimal(params: Chosen["params"], draft: VerlDraft): void {
  draft.set(`${actor}.calculate_sum_pi_squared`, true);
  const { importance, cap } = params;
  if (importance === "none") return;
  // Only verl's correction has such weights.
  draft.set(`${correction}.rollout_is`, String(importance));
  draft.set(`${correction}.rollout_is_threshold`, String(cap));
}

/** What follows in Gradus, and does not in verl. */
function others(block: AdvantageBlock, chosen: Estimator, draft: VerlDraft): void {
  const { per_source, whiten, filter, clip, sign, token_weights: weights, penalty } = block;
  const miss = (key: string, value: unknown, reason: string): void =>
    draft.miss(`advantage.${key}`, value, reason);
  if (per_source !== (chosen.apart ?? false))
    miss(
      "per_source",
      per_source,
      `verl's ${chosen.name} ${per_source ? "sums the weighted terms first" : "scales each term by itself"}.`,
    );
  if (chosen.whiten === true ? !isVerls(whiten) : whiten !== "none")
    miss(
      "whiten",
      whiten,
      `verl's ${chosen.name} ${chosen.whiten === true ? "standardises advantages over the tokens of the step" : "does not standardise finished advantages"}.`,
    );
  if (filter !== "none") miss("filter", filter, "verl trains on all responses.");
  if (clip !== "none") miss("clip", clip, "verl does not bound advantages.");
  if (sign.positive !== 1 || sign.negative !== 1)
    miss("sign", sign, "verl weights advantages of both signs alike.");
  if (penalty !== "in_reward" && chosen.token !== true)
    miss("penalty", penalty, "verl subtracts the penalty from the reward, before the baseline.");
  for (const one of weights)
    miss("token_weights", one.declaration.name, "verl weights all tokens of a response alike.");
}

/** Over tokens, √(var + 1e-8), n − 1. */
function isVerls(whiten: AdvantageBlock["whiten"]): boolean {
  if (typeof whiten === "string") return whiten === "tokens";
  const { over, center, scale, population, epsilon: added = 1e-8, inside = "variance" } = whiten;
  return over === "tokens" && center && scale && !population && added === 1e-8 && inside === "variance";
}
