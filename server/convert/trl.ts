/** TRL 1.16 (`GRPOConfig`) → Gradus. TRL counts completions: batch sizes are of rollouts, not of prompts. */
import type { Json, JsonObject } from "../../shared/json.ts";
import { Draft, fields } from "./draft.ts";
import { datasetTask, modelName } from "./paths.ts";
import { isObject, reasonBy, type Settings } from "./settings.ts";
import { plural } from "./types.ts";

export const trlDefaults: JsonObject = {
  learning_rate: 1e-6,
  lr_scheduler_type: "linear",
  warmup_steps: 0,
  weight_decay: 0,
  adam_beta1: 0.9,
  adam_beta2: 0.999,
  adam_epsilon: 1e-8,
  max_grad_norm: 1,
  per_device_train_batch_size: 8,
  gradient_accumulation_steps: 1,
  num_train_epochs: 3,
  max_steps: -1,
  num_processes: 1,
  seed: 42,
  num_generations: 8,
  max_completion_length: 512,
  temperature: 1,
  top_p: 1,
  top_k: 0,
  repetition_penalty: 1,
  beta: 0,
  num_iterations: 1,
  epsilon: 0.2,
  sapo_temperature_neg: 1.05,
  sapo_temperature_pos: 1,
  vespo_k_pos: 2,
  vespo_lambda_pos: 3,
  vespo_k_neg: 3,
  vespo_lambda_neg: 2,
  importance_sampling_level: "token",
  multi_objective_aggregation: "sum_then_normalize",
  scale_rewards: "group",
  loss_type: "dapo",
  mask_truncated_completions: false,
  sync_ref_model: false,
  top_entropy_quantile: 1,
  entropy_coef: 0,
  use_adaptive_entropy: false,
  use_vllm: false,
  vllm_importance_sampling_correction: true,
  vllm_importance_sampling_mode: "sequence_mask",
  vllm_importance_sampling_clip_max: 3,
  use_bias_correction_kl: true,
  use_peft: false,
  lora_r: 16,
  lora_alpha: 32,
  lora_dropout: 0.05,
};

export const trlReason = reasonBy(
  [
    [/^vllm_|^use_transformers|^transformers_|^ds3_|^cache_impl/, "names or tunes the engine that generates"],
    [
      /^(bf16|fp16|tf32|dtype|torch_dtype|load_in_|bnb_|attn_impl|gradient_checkpointing|activation_|use_liger|liger|torch_|deepspeed|fsdp|ddp_|optim|use_cache|cast_lm|parallelism|accelerator|mixed_precision|model_init|model_revision|trust_remote|router_aux|pad_to)/,
      "about the machine that TRL runs on",
    ],
    [
      /^(logging_|log_|report_to|run_name|project|trackio|wandb|num_completions_to|push_to_hub|hub_|disable_tqdm|output_dir|overwrite_output)/,
      "Gradus records every run in its own store",
    ],
    [
      /^(eval_|do_eval|per_device_eval|num_generations_eval|metric_for|load_best|greater_is)/,
      "see the `evaluation` block",
    ],
    [/^(save_|resume|restore)/, "see the `checkpoint` block"],
    [
      /^(dataloader_|dataset_|shuffle_|remove_unused|ignore_data|data_seed|train_sampling)/,
      "about how TRL reads data",
    ],
    [/^entropy_|adaptive_entropy/, "the bonus has a constant or a scheduled coefficient here"],
    [/^ref_model_|sync_ref/, "write a copy under `models` (`ema` or `polyak`) and name it in the `kl` entry"],
    [/^max_tool|chat_template|environment/, "conversations with tools are not in this version"],
  ],
  "no counterpart in Gradus",
);

export function convertTrl(settings: Settings): Draft {
  const draft = new Draft();
  const batch = batches(settings, draft);
  run(settings, draft, batch);
  tasks(settings, draft);
  rewards(settings, draft);
  advantage(settings, draft);
  objective(settings, draft);
  draft.set("mask", masks(settings));
  update(settings, draft, batch);
  return draft;
}

interface Batch {
  readonly generated: number;
  readonly group: number;
  readonly mini: number;
}

function batches(settings: Settings, draft: Draft): Batch {
  const device = settings.need("per_device_train_batch_size");
  const [accumulate, processes] = [
    settings.need("gradient_accumulation_steps"),
    settings.need("num_processes"),
  ];
  const steps = settings.number("steps_per_generation") ?? accumulate;
  const generated = settings.number("generation_batch_size") ?? device * processes * steps;
  const group = settings.need("num_generations");
  const update = device * processes * accumulate;
  const prompts = Math.max(1, Math.floor(generated / group));
  if (generated % group !== 0)
    settings.refuse(
      "num_generations",
      `TRL refuses it: ${plural(generated, "completion")} are no whole number of groups of ${group}`,
    );
  if (update > generated)
    settings.refuse(
      "gradient_accumulation_steps",
      "one optimiser step of TRL spans several generations here; Gradus updates after each",
    );
  draft.say(
    "rollout",
    `TRL counts completions: ${device} a device × ${plural(processes, "process")} × ${plural(steps, "step")} per generation = ${generated},\n/ num_generations ${group} = ${plural(prompts, "prompt")} a step.${settings.has("num_processes") ? "" : " Launched with several processes, multiply `prompts` and `mini_batch`."}`,
  );
  draft.set("rollout", {
    prompts,
    group,
    max_tokens: settings.need("max_completion_length"),
    temperature: settings.need("temperature"),
    ...fields({
      top_p: settings.need("top_p") === 1 ? undefined : settings.need("top_p"),
      top_k: settings.need("top_k") > 0 ? settings.need("top_k") : undefined,
      min_p: settings.number("min_p"),
    }),
  });
  if (settings.need("repetition_penalty") !== 1)
    settings.refuse("repetition_penalty", "sampling has no repetition penalty in Gradus");
  return { generated: prompts * group, group, mini: Math.min(update, prompts * group) };
}

function run(settings: Settings, draft: Draft, { generated, mini }: Batch): void {
  const name = settings.text("run_name");
  if (name !== undefined) draft.set("name", name);
  draft.set("seed", settings.need("seed"));
  const most = settings.need("max_steps");
  const updates = Math.max(1, Math.ceil(generated / mini) * settings.need("num_iterations"));
  if (most > 0) {
    draft.set("steps", Math.max(1, Math.ceil(most / updates)));
    if (updates > 1)
      draft.say("steps", `TRL counts optimiser steps: max_steps ${most} / ${updates} a generation.`);
  } else {
    if (settings.has("num_train_epochs"))
      settings.refuse(
        "num_train_epochs",
        "Gradus counts steps: write `steps` (prompts in the data × epochs / rollout.prompts)",
      );
    draft.say(
      "model",
      `TRL trains ${plural(settings.need("num_train_epochs"), "epoch")} of its data. Gradus counts steps: write \`steps\`.`,
    );
  }
  const base = modelName(settings, "model_name_or_path") ?? "tiny";
  const adapter = settings.flag("use_peft")
    ? {
        adapter: {
          use: "lora",
          rank: settings.need("lora_r"),
          alpha: settings.need("lora_alpha"),
          dropout: settings.need("lora_dropout"),
        },
      }
    : {};
  draft.set("model", { base, ...adapter });
  if (!settings.has("model_name_or_path"))
    settings.refuse("model_name_or_path", "no model is named; `tiny` stands in", null);
}

function tasks(settings: Settings, draft: Draft): void {
  const name = settings.text("dataset_name");
  settings.get("dataset_train_split");
  const shuffle = settings.peek("shuffle_dataset") === false ? { shuffle: false } : {};
  settings.get("shuffle_dataset");
  if (name === undefined) {
    settings.refuse("dataset_name", "no data is named: write `tasks`", null);
    return;
  }
  draft.set("tasks", [
    { ...datasetTask(settings, "dataset_name", name), prompt: "{prompt}", answer: "{solution}", ...shuffle },
  ]);
}

/** Reward functions that TRL ships. */
const shipped: Readonly<Record<string, JsonObject>> = {
  accuracy_reward: { use: "exact_match" },
  reasoning_accuracy_reward: { use: "exact_match" },
  think_format_reward: { use: "format", tags: ["think"] },
  get_soft_overlong_punishment: { use: "length", shape: "soft_overlong", limit: 1280, cache: 256 },
};

function rewards(settings: Settings, draft: Draft): void {
  const written = settings.list("reward_funcs")?.map(String);
  const weights = settings.list("reward_weights")?.map(Number);
  const names =
    written ??
    Array.from({ length: weights?.length ?? 1 }, (_, i) => (i === 0 ? "reward" : `reward_${i + 1}`));
  if (written === undefined)
    settings.refuse(
      "reward_funcs",
      "reward functions stand in TRL's training script; `exact_match` stands in: write the terms",
      null,
    );
  const terms = names.map((name, i): [string, JsonObject] => {
    const weight = fields({ weight: weights?.[i] });
    const known = shipped[name];
    if (known !== undefined) {
      if (name.includes("accuracy"))
        settings.refuse("reward_funcs", `${name} compares mathematics; exact_match compares texts`, name);
      return [name, { ...known, ...weight }];
    }
    const dot = name.lastIndexOf(".");
    if (dot < 0) return [name, { use: "exact_match", ...weight }];
    const file = `./${name.slice(0, dot).replace(/\./g, "/")}.py`;
    return [name.slice(dot + 1), { use: `${file}:${name.slice(dot + 1)}`, ...weight }];
  });
  draft.set("reward", { terms: Object.fromEntries(terms) });
  if (settings.text("reward_model_name_or_path") !== undefined)
    settings.refuse("reward_model_name_or_path", "a reward model is no term of this version");
}

function advantage(settings: Settings, draft: Draft): void {
  const wanted = settings.get("scale_rewards");
  const scaling = wanted === true ? "group" : wanted === false ? "none" : String(wanted);
  const epsilon = 1e-4;
  if (settings.text("multi_objective_aggregation") === "normalize_then_sum") {
    draft.set("advantage", {
      baseline: "group_mean",
      scale: { use: "group_std", epsilon },
      per_source: true,
      whiten: { over: "responses", epsilon, inside: "deviation" },
      unscored: "zero",
    });
    return;
  }
  const scale: Json =
    scaling === "none" ? "none" : { use: scaling === "batch" ? "batch_std" : "group_std", epsilon };
  draft.set("advantage", { baseline: "group_mean", scale, unscored: "zero" });
}

function aggregateOf(settings: Settings, kind: string): Json {
  if (["grpo", "sapo"].includes(kind)) return { use: "sequence_mean", empty_rows: "count" };
  if (kind === "dr_grpo")
    return { use: "sequence_sum_norm", budget: settings.need("max_completion_length"), empty_rows: "count" };
  return kind === "luspo" ? { use: "sequence_sum", empty_rows: "count" } : "token_mean";
}

function objective(settings: Settings, draft: Draft): void {
  const kind = settings.text("loss_type") ?? "dapo";
  const aggregate = aggregateOf(settings, kind);
  const entropy = settings.need("entropy_coef");
  const sequence = settings.text("importance_sampling_level") === "sequence";
  draft.set("objective", {
    ...lossOf(settings, kind),
    ...(sequence && kind !== "vespo" ? { ratio: "sequence" } : {}),
    ...correction(settings),
    aggregate,
    ...bonus(settings, entropy),
  });
  const beta = settings.need("beta");
  const weighted = settings.get("use_bias_correction_kl") !== false;
  draft.set(
    "kl",
    beta === 0
      ? []
      : [
          {
            model: "reference",
            estimator: "k3",
            place: "loss",
            coefficient: beta,
            ...(weighted ? { importance_weighted: sequence ? { level: "sequence" } : true } : {}),
          },
        ],
  );
  if (settings.flag("sync_ref_model"))
    settings.refuse("sync_ref_model", "write a copy under `models` (`polyak`) and name it in the `kl` entry");
}

/** A mean over the tokens that it acts on, whatever the loss does; it may follow the measured entropy. */
function bonus(settings: Settings, coefficient: number): JsonObject {
  const limits = {
    target: settings.number("entropy_target") ?? 0.2,
    delta: settings.number("entropy_coef_delta") ?? 0.005,
    least: settings.number("entropy_coef_min") ?? 0,
    most: settings.number("entropy_coef_max") ?? 1,
  };
  const adaptive = settings.flag("use_adaptive_entropy");
  if (coefficient === 0 && !adaptive) return {};
  return { entropy: { coefficient, aggregate: "token_mean", ...(adaptive ? { adaptive: limits } : {}) } };
}

function lossOf(settings: Settings, kind: string): JsonObject {
  const low = settings.need("epsilon");
  const high = settings.number("epsilon_high") ?? low;
  const delta = settings.number("delta");
  switch (kind) {
    case "cispo":
      // TRL's epsilon_high is the cap of the ratio itself.
      return { use: "cispo", low: null, high: Number((high - 1).toPrecision(12)) };
    case "sapo":
      return {
        use: "sapo",
        tau_pos: settings.need("sapo_temperature_pos"),
        tau_neg: settings.need("sapo_temperature_neg"),
      };
    case "vespo": {
      const shapes = ["k_pos", "lambda_pos", "k_neg", "lambda_neg"];
      return {
        use: "vespo",
        ...Object.fromEntries(shapes.map((key) => [key, settings.need(`vespo_${key}`)])),
      };
    }
    case "grpo":
    case "bnpo":
    case "dr_grpo":
    case "dapo":
    case "luspo":
      return { use: "clipped", low, high, ...fields({ delta }) };
    default:
      settings.refuse("loss_type", "a loss that TRL 1.16 does not have; dapo stands in");
      return { use: "clipped", low, high, ...fields({ delta }) };
  }
}

/** Between what vLLM drew from and what the trainer computes: only where vLLM generates. */
function correction(settings: Settings): JsonObject {
  const mode = settings.text("vllm_importance_sampling_mode") ?? "sequence_mask";
  const [low, most] = [
    settings.number("vllm_importance_sampling_clip_min"),
    settings.get("vllm_importance_sampling_clip_max"),
  ];
  const cap = settings.number("vllm_importance_sampling_cap");
  const on = settings.get("vllm_importance_sampling_correction") !== false;
  if (!settings.flag("use_vllm") || !on) return {};
  const match = /^(token|sequence)_(truncate|mask)$/.exec(mode);
  if (match === null) {
    settings.refuse("vllm_importance_sampling_mode", "no mode of TRL 1.16");
    return {};
  }
  const high = cap ?? (typeof most === "number" ? most : null);
  return { correction: [{ use: match[2]!, level: match[1]!, low: low ?? null, high }] };
}

function masks(settings: Settings): JsonObject[] {
  const share = settings.need("top_entropy_quantile");
  const threshold = settings.number("off_policy_mask_threshold");
  return [
    ...(settings.flag("mask_truncated_completions") ? [{ use: "overlong" }] : []),
    ...(threshold === undefined
      ? []
      : [
          {
            use: "off_policy_sequence",
            threshold,
            ...(settings.peek("use_vllm") === true ? {} : { against: "behaviour" }),
          },
        ]),
    ...(share < 1 ? [{ use: "top_entropy", share }] : []),
  ];
}

function update(settings: Settings, draft: Draft, { generated, mini }: Batch): void {
  const warmup = settings.need("warmup_steps");
  const ratio = settings.number("warmup_ratio") ?? (warmup > 0 && warmup < 1 ? warmup : 0);
  const most = settings.need("max_steps");
  if (ratio > 0 && most <= 0)
    settings.refuse("warmup_ratio", "needs the number of steps: write `update.optimizer.warmup`", ratio);
  const steps = ratio > 0 ? (most > 0 ? Math.ceil(ratio * most) : 0) : warmup;
  draft.say(
    "update",
    `TRL counts completions: ${plural(mini, "rollout")} an optimiser step, ${plural(Math.ceil(generated / mini), "optimiser step")} per pass.`,
  );
  draft.set("update", {
    optimizer: {
      use: "adamw",
      lr: settings.need("learning_rate"),
      betas: [settings.need("adam_beta1"), settings.need("adam_beta2")],
      epsilon: settings.need("adam_epsilon"),
      weight_decay: settings.need("weight_decay"),
      ...(steps > 0 ? { warmup: steps } : {}),
      clip_norm: settings.need("max_grad_norm"),
      ...course(settings),
    },
    mini_batch: mini,
    epochs: settings.need("num_iterations"),
  });
}

function course(settings: Settings): JsonObject {
  const kind = settings.text("lr_scheduler_type") ?? "linear";
  const options = settings.get("lr_scheduler_kwargs");
  const floor = isObject(options) ? options["min_lr_rate"] : undefined;
  switch (kind) {
    case "constant":
    case "constant_with_warmup":
      return {};
    case "linear":
    case "cosine":
    case "inverse_sqrt":
      return { schedule: kind };
    case "cosine_with_min_lr":
      return { schedule: { shape: "cosine", ...(typeof floor === "number" ? { floor } : {}) } };
    case "warmup_stable_decay":
      return { schedule: "wsd" };
    default:
      settings.refuse("lr_scheduler_type", "no such course of the learning rate here; it stays constant");
      return {};
  }
}
