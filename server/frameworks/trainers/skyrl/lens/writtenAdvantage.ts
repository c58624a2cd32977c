/** From rewards to advantages: SkyRL's estimators by what they do. The mirror image of `convert/skyrl/advantage.ts`. */
import type { StageBody } from "../../../../core/config/resolved.ts";
import { nameOf, type Chosen } from "../../../lens/exportDraft.ts";
import type { SkyrlDraft } from "./draft.ts";
import { algorithm } from "./keys.ts";

type AdvantageBlock = StageBody["advantage"];

/** What SkyRL adds to what it divides by. */
const epsilon = 1e-6;

interface Estimator {
  readonly name: string;
  readonly baseline: string;
  /** either: with and without `grpo_norm_by_std`. */
  readonly scale: "none" | "either" | "mean_reward";
  /** By token, discounted by gamma, and whitened, where it is not by response. */
  readonly token?: true;
}

const estimators: readonly Estimator[] = [
  { name: "grpo", baseline: "group_mean", scale: "either" },
  { name: "maxrl", baseline: "group_mean", scale: "mean_reward" },
  { name: "rloo", baseline: "leave_one_out", scale: "none" },
  { name: "gae", baseline: "critic", scale: "none", token: true },
  { name: "reinforce++", baseline: "none", scale: "none", token: true },
];
const usual = estimators[0]!;

/** @returns the estimator's name */
export function advantage({ advantage: block, mask }: StageBody, draft: SkyrlDraft): string {
  const [baseline, scale] = [nameOf(block.baseline), nameOf(block.scale)];
  const own = estimators.filter((one) => one.baseline === baseline);
  const chosen = own.find((one) => one.scale === scale) ?? own[0] ?? usual;
  if (own.length === 0)
    draft.miss("advantage.baseline", baseline, "SkyRL has no such baseline: it subtracts the group's mean.");
  draft.set(`${algorithm}.advantage_estimator`, chosen.name);
  scaling(block.scale, chosen, draft);
  levels(block, chosen, draft);
  if (baseline === "critic") lambda(block.baseline.params, draft);
  whitening(block, chosen, mask, draft);
  others(block, chosen, draft);
  return chosen.name;
}

function scaling({ declaration: { name }, params }: Chosen, chosen: Estimator, draft: SkyrlDraft): void {
  if (chosen.scale === "either") draft.set(`${algorithm}.grpo_norm_by_std`, name !== "none");
  if (chosen.scale === "mean_reward" && name === "mean_reward") return added(params, "mean", draft);
  if (name === "none") return;
  if (name !== "group_std" || chosen.scale !== "either")
    return draft.miss(
      "advantage.scale",
      name,
      chosen.scale === "either"
        ? "SkyRL divides by the standard deviation of the group's rewards."
        : `SkyRL's ${chosen.name} divides by nothing.`,
    );
  added(params, "standard deviation", draft);
  if (params["population"] === true)
    draft.miss("advantage.scale.population", true, "SkyRL's standard deviation divides by n − 1.");
  if (params["of"] === "advantages")
    draft.miss("advantage.scale.of", "advantages", "SkyRL takes the standard deviation of the rewards.");
}

function added(params: Chosen["params"], what: string, draft: SkyrlDraft): void {
  if (params["epsilon"] !== epsilon)
    draft.miss(
      "advantage.scale.epsilon",
      params["epsilon"],
      `SkyRL adds ${epsilon} to the ${what}.`,
      "guard",
    );
}

function levels({ level, gamma, returns }: AdvantageBlock, chosen: Estimator, draft: SkyrlDraft): void {
  const [reads, wanted] = [chosen.token === true, level === "auto" ? undefined : level];
  if (wanted !== undefined && wanted !== (reads ? "token" : "response"))
    draft.miss(
      "advantage.level",
      level,
      `SkyRL's ${chosen.name} works on ${reads ? "tokens" : "whole responses"}.`,
    );
  if (!reads) return;
  draft.set(`${algorithm}.gamma`, draft.constant("advantage.gamma", gamma));
  if (returns !== "after" && chosen.name !== "gae" && level !== "auto")
    draft.miss("advantage.returns", returns, `SkyRL's ${chosen.name} sums later tokens after the baseline.`);
}

function lambda(params: Chosen["params"], draft: SkyrlDraft): void {
  const own = params["lambda"];
  if (typeof own === "number") draft.set(`${algorithm}.lambd`, own);
  else draft.miss("advantage.baseline.lambda", own, "SkyRL's λ is one number: it stays at 1.");
  if (params["lambda_returns"] !== undefined && params["lambda_returns"] !== own)
    draft.miss(
      "advantage.baseline.lambda_returns",
      params["lambda_returns"],
      "SkyRL's critic learns returns of the same λ.",
    );
  if (params["gamma"] !== undefined)
    draft.miss("advantage.baseline.gamma", params["gamma"], "SkyRL has one discount: `advantage.gamma`.");
  if (params["truncated"] !== "zero")
    draft.miss("advantage.baseline.truncated", params["truncated"], "In SkyRL 0 follows every response.");
}

function whitening(
  { whiten }: AdvantageBlock,
  chosen: Estimator,
  mask: StageBody["mask"],
  draft: SkyrlDraft,
): void {
  if (chosen.token === true) {
    if (!isSkyrls(whiten))
      draft.miss(
        "advantage.whiten",
        whiten,
        `SkyRL's ${chosen.name} standardises advantages over the tokens of the step.`,
      );
    else if (mask.length > 0)
      draft.miss(
        "advantage.whiten",
        whiten,
        `SkyRL's ${chosen.name} also counts tokens that a mask keeps from training.`,
      );
    return;
  }
  if (whiten === "none") return;
  draft.set(`${algorithm}.advantage_batch_normalize`, true);
  draft.miss(
    "advantage.whiten",
    whiten,
    "SkyRL standardises advantages of responses over all tokens, but its mean also counts padding as zeros.",
  );
}

/** Over tokens, √(var + 1e-8), n − 1. */
function isSkyrls(whiten: AdvantageBlock["whiten"]): boolean {
  if (typeof whiten === "string") return whiten === "tokens";
  const { over, center, scale, population, epsilon: inner = 1e-8, inside = "variance" } = whiten;
  return over === "tokens" && center && scale && !population && inner === 1e-8 && inside === "variance";
}

/** What follows in Gradus, and does not in SkyRL. */
function others(block: AdvantageBlock, chosen: Estimator, draft: SkyrlDraft): void {
  const { per_source, filter, clip, sign, token_weights: weights, penalty } = block;
  const miss = (key: string, value: unknown, reason: string): void =>
    draft.miss(`advantage.${key}`, value, reason);
  if (per_source) miss("per_source", true, "SkyRL sums the weighted terms first.");
  if (filter !== "none") miss("filter", filter, "SkyRL trains on all responses.");
  if (clip !== "none") miss("clip", clip, "SkyRL does not bound advantages.");
  if (sign.positive !== 1 || sign.negative !== 1)
    miss("sign", sign, "SkyRL weights advantages of both signs alike.");
  if (penalty !== "in_reward" && chosen.token !== true)
    miss("penalty", penalty, "SkyRL subtracts the penalty from the reward, before the baseline.");
  for (const one of weights)
    miss("token_weights", one.declaration.name, "SkyRL weights all tokens of a response alike.");
}
