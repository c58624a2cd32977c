/** SkyRL's losses and penalties as Gradus' independent choices. */
import type { Json, JsonObject } from "../../../../../shared/lib/json.ts";
import type { Settings } from "../../../lens/settings.ts";
import { corrections, rolloutWeights } from "./correction.ts";
import type { KlEntry } from "../../../lens/types.ts";

const algorithm = "trainer.algorithm";
/** Beyond it nothing is bounded. */
const noBound = 1e9;

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

const isByResponse = (aggregate: Json): boolean => JSON.stringify(aggregate).includes('"sequence_mean"');

export function objective(settings: Settings, aggregate: Json): JsonObject {
  const type = settings.text(`${algorithm}.policy_loss_type`) ?? "regular";
  const loss = losses[type]?.(settings);
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
    ...(loss ?? losses["regular"]!(settings)),
    ...(list.length === 0 ? {} : { correction: list }),
    aggregate,
    ...entropy(settings, aggregate),
  };
}

const unread = [
  ...["eps_clip_low", "eps_clip_high", "clip_ratio_c"],
  ...["sapo.tau_pos", "sapo.tau_neg", "cispo.cispo_eps_clip_low", "cispo.cispo_eps_clip_high"],
  ...["clip_cov.clip_ratio", "clip_cov.clip_cov_lb", "clip_cov.clip_cov_ub"],
  ...["kl_cov.kl_cov_frac", "kl_cov.ppo_kl_coef", "dppo.dppo_type", "dppo.delta_low", "dppo.delta_high"],
];

function entropy(settings: Settings, aggregate: Json): JsonObject {
  const [use, key] = [`${algorithm}.use_entropy_loss`, `${algorithm}.entropy_loss_coef`];
  const coefficient = settings.need(key);
  if (!settings.flag(use) || coefficient === 0) return {};
  if (!isByResponse(aggregate))
    settings.refuse(key, "SkyRL averages the bonus by micro-batch, that is by response; here as the loss");
  return { entropy: coefficient };
}

const clips = (settings: Settings): JsonObject => ({
  low: settings.need(`${algorithm}.eps_clip_low`),
  high: settings.need(`${algorithm}.eps_clip_high`),
});

const losses: Readonly<Record<string, (settings: Settings) => JsonObject>> = {
  regular: (settings) => ({ use: "clipped", ...clips(settings), clamp_log_ratio: 20 }),
  dual_clip: (settings) => ({
    use: "clipped",
    ...clips(settings),
    dual: settings.need(`${algorithm}.clip_ratio_c`),
    clamp_log_ratio: 20,
  }),
  gspo: (settings) => ({
    use: "clipped",
    ...clips(settings),
    ratio: "sequence_token",
    clamp_log_ratio: { high: 10 },
  }),
  // Nothing is clipped.
  importance_sampling: () => ({ use: "clipped", low: 1, high: noBound }),
  cispo,
  sapo: (settings) => ({
    use: "sapo",
    tau_pos: settings.need(`${algorithm}.sapo.tau_pos`),
    tau_neg: settings.need(`${algorithm}.sapo.tau_neg`),
    clamp_log_ratio: 20,
  }),
  rollout_is: () => ({ use: "reinforce" }),
  dppo: (settings) => ({
    use: settings.text(`${algorithm}.dppo.dppo_type`) === "binary_kl" ? "dppo_kl" : "dppo_tv",
    low: settings.need(`${algorithm}.dppo.delta_low`),
    high: settings.need(`${algorithm}.dppo.delta_high`),
    cap: null,
    clamp_log_ratio: 20,
    ...(saysLogProbs(settings) ? { anchor: "sampled" } : {}),
  }),
  clip_cov: (settings) => {
    ofMicroBatches(settings);
    return {
      use: "clip_cov",
      ...clips(settings),
      share: settings.need(`${algorithm}.clip_cov.clip_ratio`),
      least: settings.need(`${algorithm}.clip_cov.clip_cov_lb`),
      most: settings.need(`${algorithm}.clip_cov.clip_cov_ub`),
    };
  },
  kl_cov: (settings) => {
    ofMicroBatches(settings);
    return {
      use: "kl_cov",
      share: settings.need(`${algorithm}.kl_cov.kl_cov_frac`),
      coefficient: settings.need(`${algorithm}.kl_cov.ppo_kl_coef`),
    };
  },
};

const saysLogProbs = (settings: Settings): boolean =>
  settings.get("generator.sampling_params.logprobs") !== null;

const ofMicroBatches = (settings: Settings): void =>
  settings.refuse(
    `${algorithm}.policy_loss_type`,
    "SkyRL reads the covariance of each micro-batch by itself, and of advantages that the normaliser has divided; Gradus that of an update",
  );

function cispo(settings: Settings): JsonObject {
  const [low, high] = ["low", "high"].map((side) =>
    settings.need(`${algorithm}.cispo.cispo_eps_clip_${side}`),
  ) as [number, number];
  if (low === 0 && high === 0) return { use: "reinforce" };
  return {
    use: "cispo",
    low: low >= 1 ? null : low,
    high: high >= noBound ? null : high,
    clamp_log_ratio: 20,
  };
}

/** One of SkyRL's two penalties, which exclude each other; the one in the loss is on unless it is switched off. */
export function kl(settings: Settings, aggregate: Json): KlEntry[] {
  const [inReward, inLoss] = [
    settings.flag(`${algorithm}.use_kl_in_reward`),
    settings.flag(`${algorithm}.use_kl_loss`),
  ];
  const coefficient = settings.need(`${algorithm}.kl_loss_coef`);
  const estimator = estimatorOf(settings.text(`${algorithm}.kl_estimator_type`) ?? "k3");
  const control = `${algorithm}.kl_ctrl`;
  const adaptive: Json = {
    use: "adaptive",
    initial: coefficient,
    target: settings.need(`${control}.kl_target`),
    horizon: settings.need(`${control}.horizon`),
  };
  const adapts = settings.text(`${control}.type`) === "adaptive";
  if (inReward)
    return [{ model: "reference", estimator, place: "reward", coefficient: adapts ? adaptive : coefficient }];
  if (!inLoss) return [];
  const own = isByResponse(aggregate) ? {} : { aggregate: "sequence_mean" };
  return [{ model: "reference", estimator, place: "loss", coefficient, ...own }];
}

/** SkyRL bounds k3: its log-ratio by 20, itself by 10. */
const estimatorOf = (name: string): Json =>
  name === "k3" ? { use: "k3", clamp_log_ratio: 20, clamp: 10 } : name;
