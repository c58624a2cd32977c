/** From rewards to advantages: OpenRLHF's estimators by what they do. The mirror image of `convert/openrlhfAlgorithm.ts`. */
import type { StageBody } from "../../../../core/config/resolved.ts";
import { nameOf, type Chosen } from "../../../lens/exportDraft.ts";
import type { OpenRlhfDraft } from "./draft.ts";

type AdvantageBlock = StageBody["advantage"];

/** What OpenRLHF adds to a group's standard deviation, and the least variance of the tokens of a step. */
const [epsilon, floor] = [1e-9, 1e-8];
/** Bounds that no reward reaches: OpenRLHF always has some. */
const unbounded = 1e9;

interface Estimator {
  readonly name: string;
  readonly baseline: string;
  readonly scale: "none" | "group_std";
  /** It standardises advantages over the tokens of the step, or takes off their mean. */
  readonly whiten?: true;
  /** By token, discounted by gamma, where it is not by response. */
  readonly token?: true;
  /** It compares a prompt's responses. */
  readonly group?: true;
}

const estimators: readonly Estimator[] = [
  { name: "gae", baseline: "critic", scale: "none", whiten: true, token: true },
  { name: "reinforce", baseline: "none", scale: "none", whiten: true, token: true },
  { name: "group_norm", baseline: "group_mean", scale: "group_std", group: true },
  { name: "dr_grpo", baseline: "group_mean", scale: "none", group: true },
  { name: "reinforce_baseline", baseline: "group_mean", scale: "none", whiten: true, group: true },
  { name: "rloo", baseline: "leave_one_out", scale: "none", group: true },
  { name: "flash_reinforce", baseline: "batch_mean", scale: "none" },
];
const usual = estimators.find(({ name }) => name === "group_norm")!;
const ungrouped = estimators.find(({ name }) => name === "flash_reinforce")!;

/** @returns the estimator's name */
export function advantage(body: StageBody, draft: OpenRlhfDraft): string {
  const { advantage: block, rollout } = body;
  const chosen = estimatorOf(block, rollout.group, draft);
  draft.set("algo.advantage.estimator", chosen.name);
  scaling(block.scale, chosen, draft);
  whitening(block.whiten, chosen, draft);
  levels(body, chosen, draft);
  bounds(block, chosen, draft);
  if (chosen.name === "gae") lambda(block.baseline.params, draft);
  others(block, draft);
  return chosen.name;
}

function estimatorOf(block: AdvantageBlock, group: number, draft: OpenRlhfDraft): Estimator {
  const [baseline, scale] = [nameOf(block.baseline), nameOf(block.scale)];
  const whitens = block.whiten !== "none";
  const fits = (one: Estimator): number =>
    2 * Number(scale === one.scale) + Number(whitens === (one.whiten ?? false));
  const own = estimators.filter((one) => one.baseline === baseline).toSorted((a, b) => fits(b) - fits(a))[0];
  const chosen = own ?? usual;
  if (group === 1 && chosen.group === true) {
    draft.miss(
      "advantage.baseline",
      baseline,
      "OpenRLHF compares a prompt's responses where there are two at least: it subtracts the mean over the step.",
    );
    return ungrouped;
  }
  if (own === undefined)
    draft.miss(
      "advantage.baseline",
      baseline,
      "OpenRLHF has no such baseline: it subtracts the group's mean.",
    );
  return chosen;
}

function scaling({ declaration: { name }, params }: Chosen, chosen: Estimator, draft: OpenRlhfDraft): void {
  if (name !== chosen.scale)
    return draft.miss(
      "advantage.scale",
      name,
      chosen.scale === "none"
        ? `OpenRLHF's ${chosen.name} divides by nothing.`
        : "OpenRLHF divides by the standard deviation of the group's rewards.",
    );
  if (name === "none") return;
  if (params["epsilon"] !== epsilon)
    draft.miss(
      "advantage.scale.epsilon",
      params["epsilon"],
      `OpenRLHF adds ${epsilon} to the standard deviation.`,
      "guard",
    );
  if (params["population"] === true)
    draft.miss("advantage.scale.population", true, "OpenRLHF's standard deviation divides by n − 1.");
  if (params["of"] === "advantages")
    draft.miss("advantage.scale.of", "advantages", "OpenRLHF takes the standard deviation of the rewards.");
}

/** Over tokens, √max(var, 1e-8), n. */
function whitening(whiten: AdvantageBlock["whiten"], chosen: Estimator, draft: OpenRlhfDraft): void {
  const miss = (reason: string): void => draft.miss("advantage.whiten", whiten, reason);
  if (chosen.whiten !== true) {
    if (whiten !== "none") miss(`OpenRLHF's ${chosen.name} does not standardise finished advantages.`);
    return;
  }
  if (whiten === "none" || whiten === "responses")
    return miss(`OpenRLHF's ${chosen.name} standardises advantages over the tokens of the step.`);
  const how = typeof whiten === "string" ? { center: true, scale: true, population: false } : whiten;
  if (!how.scale) draft.set("algo.advantage.no_std_norm", true);
  const {
    over = "tokens",
    epsilon: added = floor,
    inside = "variance",
  } = typeof whiten === "string" ? {} : whiten;
  if (over !== "tokens") miss("OpenRLHF standardises over tokens.");
  if (!how.center) miss("OpenRLHF takes off the mean over the tokens.");
  if (!how.scale) return;
  if (!how.population) miss("OpenRLHF's variance over the tokens divides by n.");
  if (added !== floor || inside !== "floor")
    draft.miss("advantage.whiten", whiten, `OpenRLHF's least variance is ${floor}.`, "guard");
}

const chargesReward = ({ kl }: StageBody): boolean => kl.some(({ place }) => place === "reward");

/** A critic works on tokens where the level is `auto`. */
const levelOf = ({ level, baseline }: AdvantageBlock): string =>
  level !== "auto" ? level : nameOf(baseline) === "critic" ? "token" : "response";

function levels(body: StageBody, chosen: Estimator, draft: OpenRlhfDraft): void {
  const { level, gamma } = body.advantage;
  const own = levelOf(body.advantage);
  // Undiscounted, all tokens of a response have its reward.
  const fitting = { gae: ["token"], reinforce: ["token", "response"] }[chosen.name] ?? ["response"];
  if (!fitting.includes(own))
    draft.miss(
      "advantage.level",
      level,
      `OpenRLHF's ${chosen.name} works on ${chosen.token === true ? "tokens" : "whole responses"}.`,
    );
  if (chosen.token === true && own === "token")
    draft.set("algo.advantage.gamma", draft.constant("advantage.gamma", gamma));
  else if (chargesReward(body) && gamma !== 1)
    draft.miss(
      "advantage.gamma",
      gamma,
      `OpenRLHF's ${chosen.name} sums a response's penalties undiscounted.`,
    );
  penalties(body, chosen, draft);
}

/** What is taken off for a divergence, token by token. */
function penalties(body: StageBody, chosen: Estimator, draft: OpenRlhfDraft): void {
  if (!chargesReward(body)) return;
  const { penalty, clip } = body.advantage;
  const miss = (reason: string): void => draft.miss("advantage.penalty", penalty, reason);
  const byToken = chosen.token === true && levelOf(body.advantage) === "token";
  if (chosen.name === "gae") {
    if (penalty !== "in_reward") miss("OpenRLHF's gae subtracts the penalty from each token's reward.");
  } else if (penalty === "in_reward" && !byToken)
    miss("OpenRLHF subtracts the penalty from each token, after the baseline.");
  else if (penalty === "in_reward" && clip !== "none")
    miss("OpenRLHF subtracts the penalty after the bounds.");
}

/** The range bounds a reward after the baseline, and in `gae` before it. */
function bounds({ clip }: AdvantageBlock, chosen: Estimator, draft: OpenRlhfDraft): void {
  const given = clip === "none" ? undefined : clip;
  if (given !== undefined && chosen.name === "gae")
    draft.miss("advantage.clip", clip, "OpenRLHF's gae does not bound advantages.");
  const used = chosen.name === "gae" ? undefined : given;
  draft.set("reward.clip_range", [used?.low ?? -unbounded, used?.high ?? unbounded]);
}

function lambda(params: Chosen["params"], draft: OpenRlhfDraft): void {
  const own = params["lambda"];
  const miss = (key: string, reason: string): void =>
    draft.miss(`advantage.baseline.${key}`, params[key], reason);
  if (typeof own === "number") draft.set("algo.advantage.lambd", own);
  else miss("lambda", "OpenRLHF's λ is one number: it stays at 1.");
  if (params["lambda_returns"] !== undefined && params["lambda_returns"] !== own)
    miss("lambda_returns", "OpenRLHF's critic learns returns of the same λ.");
  if (params["gamma"] !== undefined) miss("gamma", "OpenRLHF has one discount: `advantage.gamma`.");
  if (params["truncated"] !== "zero") miss("truncated", "In OpenRLHF 0 follows every response.");
}

/** What follows in Gradus, and does not in OpenRLHF. */
function others(block: AdvantageBlock, draft: OpenRlhfDraft): void {
  const { per_source, filter, sign, token_weights: weights } = block;
  const miss = (key: string, value: unknown, reason: string): void =>
    draft.miss(`advantage.${key}`, value, reason);
  if (per_source) miss("per_source", true, "OpenRLHF sums the weighted terms first.");
  if (filter !== "none") miss("filter", filter, "OpenRLHF trains on all responses.");
  if (sign.positive !== 1 || sign.negative !== 1)
    miss("sign", sign, "OpenRLHF weights advantages of both signs alike.");
  for (const one of weights)
    miss("token_weights", one.declaration.name, "OpenRLHF weights all tokens of a response alike.");
}
