/** Allowed values that only a framework's code checks: its configuration accepts any text. */
import type { Framework } from "../../text/document.ts";
import { compareVersions } from "../../text/releaseOrder.ts";

interface ChoiceFact {
  readonly value: string;
  /** The release that added it; absent if every release of the tables has it. */
  readonly since?: string;
  /** The first release without it. */
  readonly before?: string;
}
type Choices = Readonly<Record<string, readonly (string | ChoiceFact)[]>>;

const since = (version: string, ...values: readonly string[]): ChoiceFact[] =>
  values.map((value) => ({ value, since: version }));

/** trl/trainer/grpo_trainer.py compares these by name: `_compute_loss`, `_generate_and_score_completions`. */
const trl: Choices = {
  loss_type: [
    ...["grpo", "bnpo", "dr_grpo"],
    ...since("0.22.0", "dapo"),
    ...since("0.26.0", "cispo", "sapo"),
    ...since("0.28.0", "luspo"),
    ...since("1.0.0", "vespo"),
  ],
  scale_rewards: since("0.22.0", "group", "batch", "none"),
  importance_sampling_level: ["token", "sequence"],
  multi_objective_aggregation: ["sum_then_normalize", "normalize_then_sum"],
  vllm_importance_sampling_mode: ["token_truncate", "token_mask", "sequence_truncate", "sequence_mask"],
  vllm_mode: ["server", "colocate"],
  vllm_model_impl: ["vllm", "transformers"],
};

/** The choices of keys of TRL's other trainers: `_compute_loss` and `compute_loss` of these trainers. */
const otherTrainers: Readonly<Record<string, Choices>> = {
  dpo: {
    loss_type: [
      ...["sigmoid", "hinge", "ipo", "exo_pair", "nca_pair", "robust", "bco_pair", "sppo_hard", "aot"],
      ...["apo_zero", "apo_down", "discopop", "sft"],
      { value: "aot_pair", before: "0.28.0" },
      ...since("0.28.0", "aot_unpaired"),
      ...since("1.10.0", "sigmoid_norm"),
    ],
  },
  sft: { loss_type: ["nll", "dft", ...since("1.4.0", "chunked_nll")] },
  kto: { loss_type: ["kto", "apo_zero_unpaired"] },
};

/** `full` is a name too, but verl does not implement it and refuses it. */
const penalties = ["kl", "k1", "abs", "mse", "k2", "low_var_kl", "k3"];
/** `kl_penalty` of core_algos.py takes the forward value of one and the gradient of another. */
const straightThrough = since("0.6.0", ...penalties.map((name) => `${name}+`));
const aggregations = [
  ...["token-mean", "seq-mean-token-sum", "seq-mean-token-mean", "seq-mean-token-sum-norm"],
  ...since("0.9.0", "token-sum"),
];

/** `PrecisionType.to_dtype` of verl/utils/torch_dtypes.py. */
const precisions = ["fp16", "float16", "fp32", "float32", "bf16", "bfloat16"];
/** The engines of every release: verl has no others. */
const strategies = [
  "fsdp",
  "fsdp2",
  "fsdp_turbo",
  "megatron",
  "veomni",
  "torchtitan",
  "automodel",
  "mindspeed",
];
/** `McoreOptimizerConfig.__post_init__` of verl/workers/config/optimizer.py. */
const optimizerPrecisions = ["fp32", "float32", "32", "bf16", "bfloat16"];
const megatronOptimizer = (section: string): Choices =>
  Object.fromEntries(
    ["main_grads_dtype", "exp_avg_dtype", "exp_avg_sq_dtype"].map((name) => [
      `${section}.optim.${name}`,
      optimizerPrecisions,
    ]),
  );

/** verl/trainer/ppo/core_algos.py, verl/trainer/ppo/ray_trainer.py and verl/utils/tracking.py. */
const verl: Choices = {
  "algorithm.adv_estimator": [
    ...[
      "gae",
      "grpo",
      "reinforce_plus_plus",
      "reinforce_plus_plus_baseline",
      "remax",
      "rloo",
      "opo",
      "grpo_passk",
    ],
    "gpg",
    ...since("0.6.0", "rloo_vectorized", "grpo_vectorized"),
    ...since("0.7.1", "gdpo", "optimal_token_baseline", "tir_optimal_token_baseline"),
  ],
  "algorithm.kl_penalty": [...penalties, ...straightThrough],
  "algorithm.kl_ctrl.type": ["fixed", "adaptive"],
  "actor_rollout_ref.actor.kl_loss_type": [...penalties, ...straightThrough],
  "actor_rollout_ref.actor.loss_agg_mode": aggregations,
  "actor_rollout_ref.actor.policy_loss.loss_mode": [
    ...["vanilla", "gpg", "clip_cov", "kl_cov"],
    ...since("0.6.0", "gspo", "geo_mean"),
    ...since("0.7.0", "sapo", "cispo", "bypass_mode"),
    ...since("0.7.1", "dppo_tv", "dppo_kl"),
    ...since("0.9.0", "dro"),
  ],
  "trainer.v1.trainer_mode": since("0.9.0", "sync", "colocate_async", "separate_async"),
  ...megatronOptimizer("actor_rollout_ref.actor"),
  ...megatronOptimizer("critic"),
  "actor_rollout_ref.actor.strategy": strategies,
  "critic.strategy": strategies,
  "actor_rollout_ref.actor.fsdp_config.model_dtype": precisions,
  "actor_rollout_ref.ref.fsdp_config.model_dtype": precisions,
  "data.truncation": ["error", "left", "right", "middle"],
  "actor_rollout_ref.rollout.multi_turn.tokenization_sanity_check_mode": [
    "disable",
    "strict",
    "ignore_strippable",
  ],
  "trainer.resume_mode": ["auto", "disable", "resume_path"],
  "trainer.logger": [
    ...["console", "wandb", "mlflow", "swanlab", "vemlp_wandb", "tensorboard", "clearml", "tracking"],
    ...since("0.6.0", "trackio", "file"),
    ...since("0.9.0", "rl_insight"),
  ],
};

/** Names that a plug-in may add to: `register_adv_est`, `register_policy_loss`, `register_trainer`. */
export const registered: ReadonlySet<string> = new Set([
  "algorithm.adv_estimator",
  "actor_rollout_ref.actor.policy_loss.loss_mode",
  "trainer.v1.trainer_mode",
  // Another program may bring its own `Tracking`.
  "trainer.logger",
]);

const tables: Readonly<Record<Framework, Choices>> = { verl, trl, openrlhf: {} };

/** The keys whose choices only the framework's code checks. */
export const keysWithChoices = (framework: Framework, tree?: string): readonly string[] =>
  Object.keys(
    (framework === "trl" && tree !== undefined ? otherTrainers[tree] : undefined) ?? tables[framework],
  );

export function choicesOf(
  framework: Framework,
  version: string,
  key: string,
  tree?: string,
): readonly string[] | undefined {
  const other = framework === "trl" && tree !== undefined ? otherTrainers[tree] : undefined;
  const table = other ?? tables[framework];
  const known = Object.hasOwn(table, key) ? table[key] : undefined;
  const allowed = known
    ?.map((choice) => (typeof choice === "string" ? { value: choice } : choice))
    .filter(
      ({ since: first, before }: ChoiceFact) =>
        (first === undefined || compareVersions(version, first) >= 0) &&
        (before === undefined || compareVersions(version, before) < 0),
    )
    .map(({ value }) => value);
  return allowed === undefined || allowed.length === 0 ? undefined : allowed;
}
