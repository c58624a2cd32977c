/** verl's estimators, losses, KL and corrections as Gradus' independent choices. */
import type { Json, JsonObject } from "../../shared/json.ts";
import { fields, type Draft } from "./draft.ts";
import { isObject, type Settings } from "./settings.ts";
import type { KlEntry } from "./types.ts";

const actor = "actor_rollout_ref.actor";
const policyLoss = `${actor}.policy_loss`;
const correction = "algorithm.rollout_correction";

/** A rollout without a scored sibling keeps its reward in most of verl's estimators. */
const single = "reward";
const groupMean: JsonObject = { use: "group_mean", single };

export function advantage(settings: Settings, draft: Draft): void {
  const name = settings.text("algorithm.adv_estimator") ?? "gae";
  const chosen = estimators[name]?.(settings);
  // What the chosen estimator does not read changes nothing.
  for (const key of ["gamma", "lam", "norm_adv_by_std_in_grpo"]) settings.get(`algorithm.${key}`);
  if (chosen === undefined) {
    settings.refuse(
      "algorithm.adv_estimator",
      "an estimator that verl does not have itself; group_mean stands in",
    );
    draft.set("advantage", { baseline: groupMean, scale: "none" });
    return;
  }
  draft.set("advantage", chosen);
  if (settings.flag("algorithm.use_kl_in_reward") && name === "gdpo")
    settings.refuse(
      "algorithm.use_kl_in_reward",
      "verl's gdpo reads the reward's parts and so never this penalty",
    );
  if (settings.flag("algorithm.use_pf_ppo"))
    settings.refuse(
      "algorithm.use_pf_ppo",
      "rollouts are not drawn again by their reward here: see the `replay` block",
    );
  for (const key of ["reweight_method", "weight_pow"]) settings.get(`algorithm.pf_ppo.${key}`);
}

const groupStd = (settings: Settings): Json =>
  settings.peek("algorithm.norm_adv_by_std_in_grpo") === false
    ? (settings.get("algorithm.norm_adv_by_std_in_grpo"), "none")
    : (settings.get("algorithm.norm_adv_by_std_in_grpo"), { use: "group_std", epsilon: 1e-6, single: "one" });
const gamma = (settings: Settings): number => settings.need("algorithm.gamma");

const grpo = (settings: Settings): JsonObject => ({ baseline: groupMean, scale: groupStd(settings) });

const estimators: Readonly<Record<string, (settings: Settings) => JsonObject>> = {
  gae: (settings) => ({
    baseline: { use: "critic", lambda: settings.need("algorithm.lam") },
    scale: "none",
    level: "token",
    gamma: gamma(settings),
    whiten: "tokens",
  }),
  grpo,
  grpo_vectorized: grpo,
  grpo_passk: (settings) => ({ baseline: "best_minus_second", scale: groupStd(settings) }),
  reinforce_plus_plus: (settings) => ({
    baseline: "none",
    scale: "none",
    level: "token",
    gamma: gamma(settings),
    whiten: "tokens",
  }),
  reinforce_plus_plus_baseline: () => ({ baseline: groupMean, scale: "none", whiten: "tokens" }),
  remax: () => ({ baseline: "greedy", scale: "none", level: "token", returns: "before" }),
  rloo: () => ({ baseline: { use: "leave_one_out", single }, scale: "none" }),
  rloo_vectorized: () => ({ baseline: { use: "leave_one_out", single: "zero" }, scale: "none" }),
  opo: () => ({ baseline: { use: "opo", single }, scale: "none" }),
  gpg: () => ({ baseline: groupMean, scale: "nonzero_share" }),
  optimal_token_baseline: (settings) => optimalTokenBaseline(settings, "position"),
  tir_optimal_token_baseline: (settings) => optimalTokenBaseline(settings, "trained"),
  gdpo: (settings) => ({
    baseline: groupMean,
    scale: groupStd(settings),
    per_source: true,
    whiten: "tokens",
  }),
};

function optimalTokenBaseline(settings: Settings, align: string): JsonObject {
  settings.get(`${actor}.calculate_sum_pi_squared`);
  const weights = settings.peek(`${correction}.rollout_is`);
  const threshold = settings.peek(`${correction}.rollout_is_threshold`);
  return {
    baseline: {
      use: "optimal_token_baseline",
      align,
      ...(typeof weights === "string" ? { importance: weights, cap: bounds(threshold).high } : {}),
    },
    scale: "none",
    level: "token",
  };
}

/** `2.0` is an upper bound, `0.5_5.0` a lower and an upper one. */
function bounds(threshold: Json | undefined): { readonly low?: number; readonly high: number } {
  const parts = String(threshold ?? 2)
    .split("_")
    .map(Number);
  return parts.length > 1 ? { low: parts[0]!, high: parts[1]! } : { high: parts[0]! };
}

/** Both of verl's KLs; each is off unless it is switched on. */
export function kl(settings: Settings, loss: JsonObject, aggregate: Json): KlEntry[] {
  const inReward = settings.flag("algorithm.use_kl_in_reward");
  const entries: KlEntry[] = [];
  const [type, start] = [settings.text("algorithm.kl_ctrl.type"), settings.need("algorithm.kl_ctrl.kl_coef")];
  const [horizon, target] = [
    settings.need("algorithm.kl_ctrl.horizon"),
    settings.need("algorithm.kl_ctrl.target_kl"),
  ];
  const kind = settings.text("algorithm.kl_penalty") ?? "kl";
  if (inReward)
    entries.push({
      model: "reference",
      estimator: estimator(kind),
      place: "reward",
      coefficient: type === "adaptive" ? { use: "adaptive", initial: start, target, horizon } : start,
    });
  const inLoss = settings.flag(`${actor}.use_kl_loss`);
  const coefficient = settings.need(`${actor}.kl_loss_coef`);
  const lossKind = settings.text(`${actor}.kl_loss_type`) ?? "low_var_kl";
  if (inLoss)
    entries.push({
      model: "reference",
      estimator: estimator(lossKind),
      place: "loss",
      coefficient,
      ...klAggregate(settings, loss, aggregate),
    });
  return entries;
}

/** A KL whose normaliser is not the loss's says so. */
function klAggregate(settings: Settings, { aggregate: own }: JsonObject, aggregate: Json): JsonObject {
  if (JSON.stringify(own) === JSON.stringify(aggregate)) return {};
  const name = isObject(aggregate) ? aggregate["use"] : aggregate;
  if (name === "token_mean" || name === "sequence_mean" || name === "sequence_sum")
    return { aggregate: name };
  settings.refuse(
    `${actor}.loss_agg_mode`,
    "the KL beside this loss has no such normaliser here; it has the loss's",
  );
  return {};
}

/** `k3+` has the value of k3 and the gradient of k2. verl bounds k3: its log-ratio by 20, itself by 10. */
function estimator(kind: string): Json {
  const base = kind.replace(/\+$/, "");
  const use =
    { kl: "k1", k1: "k1", abs: "abs", mse: "k2", k2: "k2", low_var_kl: "k3", k3: "k3" }[base] ?? base;
  const straight = kind.endsWith("+") && use !== "k2" ? { straight_through: true } : {};
  const clamps = use === "k3" ? { clamp_log_ratio: 20, clamp: 10 } : {};
  const whole = { use, ...clamps, ...straight };
  return Object.keys(whole).length === 1 ? use : whole;
}

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
    settings.refuse(`${actor}.loss_agg_mode`, "unknown to verl 0.9.1; token_mean stands in");
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
    "the bonus is averaged as the loss is, or over tokens; here as the loss",
  );
  return coefficient;
}

interface Clips {
  readonly low: number;
  readonly high: number;
  readonly cap: number;
}

export function objective(settings: Settings, aggregate: Json): JsonObject {
  const entropy = settings.need(`${actor}.entropy_coeff`);
  const common = settings.number(`${actor}.clip_ratio`);
  const clip = (side: string): number =>
    settings.peek(`${actor}.clip_ratio_${side}`) === null
      ? (common ?? 0.2)
      : settings.need(`${actor}.clip_ratio_${side}`);
  const clips = { low: clip("low"), high: clip("high"), cap: settings.need(`${actor}.clip_ratio_c`) };
  const mode = settings.text(`${policyLoss}.loss_mode`) ?? "vanilla";
  const bypass = settings.flag(`${correction}.bypass_mode`);
  const own = bypass ? undefined : ownAggregate[mode];
  const loss = bypass ? bypassed(settings, clips) : losses[mode]?.(settings, clips);
  if (loss === undefined)
    settings.refuse(
      `${policyLoss}.loss_mode`,
      "a loss that verl 0.9.1 does not have itself; vanilla stands in",
    );
  return {
    ...(loss ?? losses["vanilla"]!(settings, clips)),
    ...corrections(settings, bypass),
    aggregate: own ?? aggregate,
    ...(entropy === 0 ? {} : { entropy: own === undefined ? entropy : bonus(settings, entropy, aggregate) }),
  };
}

const vanilla = (_: Settings, { low, high, cap }: Clips): JsonObject => ({
  use: "clipped",
  low,
  high,
  dual: cap,
  clamp_log_ratio: 20,
});

const losses: Readonly<Record<string, (settings: Settings, clips: Clips) => JsonObject>> = {
  vanilla,
  gspo: (_, { low, high }) => ({
    use: "clipped",
    low,
    high,
    ratio: "sequence_token",
    clamp_log_ratio: { high: 10 },
  }),
  sapo: (settings) => ({
    use: "sapo",
    tau_pos: settings.need(`${actor}.tau_pos`),
    tau_neg: settings.need(`${actor}.tau_neg`),
    clamp_log_ratio: 20,
  }),
  gpg: () => ({ use: "reinforce" }),
  clip_cov: (settings, { low, high }) => ({
    use: "clip_cov",
    low,
    high,
    share: settings.need(`${policyLoss}.clip_cov_ratio`),
    least: settings.need(`${policyLoss}.clip_cov_lb`),
    most: settings.need(`${policyLoss}.clip_cov_ub`),
  }),
  kl_cov: (settings) => ({
    use: "kl_cov",
    share: settings.need(`${policyLoss}.kl_cov_ratio`),
    coefficient: settings.need(`${policyLoss}.ppo_kl_coef`),
  }),
  geo_mean: (_, { low, high }) => ({ use: "geo_mean", low, high }),
  dro: (settings) => ({ use: "dro", ...fields({ beta: settings.number(`${policyLoss}.dro_beta`) }) }),
  cispo: (_, { low, high }) => ({ use: "cispo", low: low > 1 ? null : low, high, clamp_log_ratio: 20 }),
  dppo_tv: (_, { low, high, cap }) => ({ use: "dppo_tv", low, high, cap, clamp_log_ratio: 20 }),
  dppo_kl: (_, { low, high, cap }) => ({ use: "dppo_kl", low, high, cap, clamp_log_ratio: 20 }),
};

/** `bypass_mode`: the ratio is against what drew the tokens; log-probs of the trainer at generation are not computed. */
function bypassed(settings: Settings, clips: Clips): JsonObject {
  settings.get(`${policyLoss}.loss_mode`);
  if (settings.text(`${correction}.loss_type`) === "reinforce") return { use: "reinforce" };
  return { ...vanilla(settings, clips), anchor: "sampled" };
}

/** Importance weights first, of all tokens; then what is rejected leaves the mask. */
function corrections(settings: Settings, bypass: boolean): JsonObject {
  const list: JsonObject[] = [];
  const numerator: JsonObject = bypass ? { numerator: "now" } : {};
  const level = settings.text(`${correction}.rollout_is`);
  const { low, high } = bounds(settings.get(`${correction}.rollout_is_threshold`));
  const normalise = settings.flag(`${correction}.rollout_is_batch_normalize`) ? { normalise: true } : {};
  // With bypass and PPO's clip the ratio itself corrects: verl computes the weights and does not use them.
  const weighs = !bypass || settings.text(`${correction}.loss_type`) === "reinforce";
  if (level !== undefined && weighs) {
    const shared = { ...numerator, level, high, clamp_log_ratio: 20, ...normalise };
    list.push(low === undefined ? { use: "truncate", ...shared } : { use: "mask", ...shared, low });
  }
  if (!rejectsFirst(settings))
    list.push(...rejections(settings).map((entry) => ({ use: "reject", ...entry, ...numerator })));
  return list.length === 0 ? {} : { correction: list };
}

/**
 * verl rejects before the advantages, so that whitening does not count what is gone: a mask. Its importance weights
 * are made before, of all tokens: where the rejection would change them it is a correction behind them.
 */
function rejectsFirst(settings: Settings): boolean {
  const level = settings.peek(`${correction}.rollout_is`);
  if (settings.peek(`${correction}.bypass_mode`) === true) return false;
  if (typeof level !== "string") return true;
  if (settings.peek(`${correction}.rollout_is_batch_normalize`) === true) return false;
  return level === "token" || !String(settings.peek(`${correction}.rollout_rs`)).includes("token_");
}

export const masks = (settings: Settings): JsonObject[] =>
  rejectsFirst(settings) ? rejections(settings).map((entry) => ({ use: "rejected", ...entry })) : [];

function rejections(settings: Settings): JsonObject[] {
  const names = settings.text(`${correction}.rollout_rs`);
  const spec = settings.get(`${correction}.rollout_rs_threshold`);
  if (names === undefined) return [];
  const kinds = [...new Set(names.split(",").map((name) => name.trim()))].filter((name) => name !== "");
  const thresholds = String(spec ?? "").split(",");
  const entries = kinds.flatMap((kind, i) => {
    const threshold = thresholds.length === 1 ? thresholds[0] : thresholds[i];
    const match = /^(token|seq_sum|seq_mean|seq_max)_(k[123])$/.exec(kind);
    if (match === null || threshold === undefined || threshold.trim() === "") {
      settings.refuse(
        `${correction}.rollout_rs`,
        `\`${kind}\` needs a threshold, or is no rejection of verl`,
      );
      return [];
    }
    const { low, high } = bounds(threshold.trim());
    return [
      {
        estimator: match[2]!,
        level: match[1]!.replace("seq_", "sequence_"),
        ...fields({ low }),
        high,
      },
    ];
  });
  // verl judges all of them on the same tokens: whole responses first, which does not change the others.
  return entries.sort((a, b) => Number(a["level"] === "token") - Number(b["level"] === "token"));
}

/** What verl's order of things makes of a rejection that Gradus' order does not. */
export function rejectionNote(settings: Settings): void {
  const name = String(settings.peek("algorithm.adv_estimator"));
  const reads = ["gae", "reinforce_plus_plus", "reinforce_plus_plus_baseline", "gdpo", "opo"].includes(name);
  if (
    typeof settings.peek(`${correction}.rollout_rs`) === "string" &&
    reads &&
    !rejectsFirst(settings) &&
    settings.peek(`${correction}.bypass_mode`) !== true
  )
    settings.refuse(
      `${correction}.rollout_rs`,
      `verl takes rejected tokens out before ${name} reads the mask; here they count in the advantages, and leave the loss`,
    );
}
