/** verl's losses and KLs as Gradus' independent choices. */
import type { Json, JsonObject } from "../../../../../shared/lib/json.ts";
import { fields } from "../../../lens/configDraft.ts";
import { isObject } from "../../../text/values.ts";
import type { Settings } from "../../../lens/settings.ts";
import type { KlEntry } from "../../../lens/types.ts";
import { corrections } from "./correction.ts";

const actor = "actor_rollout_ref.actor";
const policyLoss = `${actor}.policy_loss`;
const correction = "algorithm.rollout_correction";

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

/** A KL with a normaliser other than the loss's names it. */
function klAggregate(settings: Settings, { aggregate: own }: JsonObject, aggregate: Json): JsonObject {
  if (JSON.stringify(own) === JSON.stringify(aggregate)) return {};
  const name = isObject(aggregate) ? aggregate["use"] : aggregate;
  if (name === "token_mean" || name === "sequence_mean" || name === "sequence_sum")
    return { aggregate: name };
  settings.refuse(
    `${actor}.loss_agg_mode`,
    "Gradus has no such normaliser for a KL term; this one uses the loss's",
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
    settings.refuse(
      `${actor}.loss_agg_mode`,
      "verl 0.9.1 does not define this mode; token_mean is used instead",
    );
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
    "Gradus averages the bonus as the loss or over tokens; here as the loss",
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
  const sides = ["low", "high"].map((side) => settings.peek(`${actor}.clip_ratio_${side}`));
  if (settings.has(`${actor}.clip_ratio`) && !sides.includes(null) && sides.some((side) => side !== common))
    settings.refuse(
      `${actor}.clip_ratio`,
      "verl reads it only where clip_ratio_low or clip_ratio_high is null; they are 0.2 unless written",
    );
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
      "verl 0.9.1 does not define this loss; vanilla is used instead",
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

/** `bypass_mode`: the ratio is against the policy that generated the tokens; verl does not compute the trainer's log-probs at generation. */
function bypassed(settings: Settings, clips: Clips): JsonObject {
  settings.get(`${policyLoss}.loss_mode`);
  if (settings.text(`${correction}.loss_type`) === "reinforce") return { use: "reinforce" };
  return { ...vanilla(settings, clips), anchor: "sampled" };
}
