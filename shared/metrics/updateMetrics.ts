/** What an update says of itself: the part of the list of metrics that comes with the loss. */
import { fraction, metric, type Metric } from "./metric.ts";

export const updateMetrics: readonly Metric[] = [
  metric("update/loss", "Mean loss of the step's optimiser updates.", {
    aliases: {
      trl: ["loss"],
      verl: ["actor/pg_loss"],
      openrlhf: ["policy_loss"],
      skyrl: ["policy/policy_loss"],
    },
  }),
  metric("update/grad_norm", "Global gradient norm before clipping.", {
    aliases: {
      trl: ["grad_norm"],
      verl: ["actor/grad_norm"],
      openrlhf: ["actor_grad_norm"],
      skyrl: ["policy/grad_norm"],
      prime_rl: ["optim/grad_norm"],
    },
  }),
  fraction("update/clip_fraction", "Trained tokens on which the clip acts.", {
    aliases: {
      trl: ["clip_ratio/region_mean"],
      verl: ["actor/pg_clipfrac"],
      openrlhf: ["ppo_clip_ratio"],
      skyrl: ["policy/loss_metrics/clip_ratio"],
    },
  }),
  fraction("update/clip_low", "Trained tokens clipped at the lower bound: already made too unlikely.", {
    aliases: { trl: ["clip_ratio/low_mean"] },
  }),
  fraction("update/clip_high", "Trained tokens clipped at the upper bound: already made too likely.", {
    aliases: { trl: ["clip_ratio/high_mean", "cispo_clip_ratio"] },
  }),
  fraction("update/dual_clip", "Trained tokens of negative advantage whose loss the dual clip caps.", {
    aliases: { verl: ["actor/pg_clipfrac_lower"] },
  }),
  fraction(
    "update/covariance_fraction",
    "Trained tokens chosen by the covariance of log-prob and advantage.",
  ),
  metric(
    "update/second_moment",
    "Mean squared log-ratio of the trained tokens that move away from the denominator of the ratios, before it is bounded.",
  ),
  metric("update/ratio_mean", "Mean importance ratio of the trained tokens: 1 on policy."),
  metric("update/ratio_min", "Smallest importance ratio of the step's updates."),
  metric("update/ratio_max", "Largest importance ratio of the step's updates."),
  fraction(
    "update/ess",
    "Effective sample size of the ratios, as a share of the trained tokens: (Σρ)² / (n Σρ²).",
    { better: "higher" },
  ),
  metric(
    "update/anchor_kl",
    "k3 estimate of the policy's divergence from the denominator of the ratios, per trained token.",
    { unit: "nats", aliases: { verl: ["actor/ppo_kl"], openrlhf: ["ppo_kl"] } },
  ),
  metric("update/weight_mean", "Mean weight that the objective gives its sequences instead of a clip.", {
    aliases: { trl: ["vespo/phi_seq_mean"] },
  }),
  metric("value/mean", "Mean value that the critic gives, over the trained tokens.", {
    aliases: { verl: ["critic/values/mean"] },
  }),
  metric(
    "value/explained_variance",
    "How much of the returns' variance the critic explains: 1 − Var(R − V) / Var(R). 1 is all, 0 no more than a constant.",
    { better: "higher", aliases: { verl: ["critic/vf_explained_var"] } },
  ),
  metric(
    "update/entropy_coefficient",
    "Coefficient of the entropy bonus, where it follows the measured entropy.",
    { aliases: { trl: ["entropy_coef"] } },
  ),
  metric(
    "correction/weight_mean",
    "Mean importance weight that corrects for the mismatch of sampler and trainer.",
    { aliases: { trl: ["sampling/importance_sampling_ratio/mean"], verl: ["rollout_corr/rollout_is_mean"] } },
  ),
  fraction(
    "correction/ess",
    "Effective sample size of the importance correction's weights, as a share of the tokens.",
    { better: "higher", aliases: { verl: ["rollout_corr/rollout_is_eff_sample_size"] } },
  ),
  fraction("correction/bounded", "Trained tokens whose correction weight was clamped.", {
    better: "lower",
    aliases: { skyrl: ["policy/loss_metrics/tis_token_clip_high_ratio"] },
  }),
  fraction("correction/rejected", "Tokens left out because their correction weight was out of bounds.", {
    better: "lower",
    aliases: { verl: ["rollout_corr/rollout_rs_masked_fraction"] },
  }),
  metric("update/lr", "Learning rate of the last update.", {
    aliases: {
      trl: ["learning_rate"],
      verl: ["actor/lr"],
      openrlhf: ["actor_lr"],
      skyrl: ["policy/policy_lr"],
      prime_rl: ["optim/lr"],
    },
  }),
  metric("update/undone", "Steps so far whose updates an evaluation has undone (`evaluation.keep`).", {
    unit: "count",
  }),
  metric(
    "mismatch/k3",
    "k3 divergence between the sampler's log-probs and the trainer's on the same tokens.",
    {
      unit: "nats",
      better: "lower",
      aliases: { verl: ["rollout_corr/k3_kl"], openrlhf: ["vllm_kl"], prime_rl: ["mismatch_kl/all/mean"] },
    },
  ),
  metric(
    "mismatch/band",
    "Upper limit of mismatch/k3 as measured at the start of the run: four standard errors above its mean.",
    { unit: "nats" },
  ),
  metric("update/pairs", "Pairs of answers that a pairwise loss compared.", { unit: "count" }),
  fraction(
    "update/pair_accuracy",
    "Pairs in which the better answer already scored higher, before the update.",
    { better: "higher" },
  ),
  fraction(
    "route/<place>",
    "Share of the update's rollouts that `route` sent to each destination: distil, pair, mask, drop, policy.",
  ),
];
