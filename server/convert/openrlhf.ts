/** OpenRLHF 0.11 (dotted flags) → Gradus. `rollout.batch_size` counts prompts, `train.batch_size` rollouts. */
import type { Json, JsonObject } from "../../shared/json.ts";
import { Draft, fields } from "./draft.ts";
import { datasetTask, fromHome, modelName } from "./paths.ts";
import { reasonBy, type Settings } from "./settings.ts";
import { plural } from "./types.ts";

const chosen = "algo.advantage";

export const openrlhfReason = reasonBy(
  [
    [
      /micro_batch|max_tokens_per_gpu|dynamic_batch|vllm_generate_batch/,
      "Gradus cuts work to fit the memory by itself (`update.micro_tokens`, `rollout.lanes`)",
    ],
    [
      /^(ds|vllm|ref)\.|num_nodes|num_gpus|colocate|gradient_checkpointing|offload|local_rank|determinism|zero_stage|tensor_parallel|gpu_memory/,
      "about a cluster of GPUs; Gradus trains on one machine",
    ],
    [/^(logger|ckpt)\.|wandb|tensorboard/, "Gradus records every run in its own store"],
    [/^critic\./, "the critic is a value head of the policy here: see `advantage.baseline: critic`"],
    [/^eval\./, "see the `evaluation` block"],
    [/^train\.async|partial_rollout/, "generation and training take turns in this version"],
    [/image|visual/, "no images in this version"],
    [/^reward\./, "no counterpart among the reward terms"],
    [/^data\./, "about how OpenRLHF reads data"],
  ],
  "no counterpart in Gradus",
);

export function convertOpenRlhf(settings: Settings): Draft {
  const draft = new Draft();
  run(settings, draft);
  tasks(settings, draft);
  sampling(settings, draft);
  rewards(settings, draft);
  advantage(settings, draft);
  objective(settings, draft);
  update(settings, draft);
  return draft;
}

function run(settings: Settings, draft: Draft): void {
  draft.set("seed", settings.need("train.seed"));
  const rank = settings.need("ds.lora.rank");
  const [alpha, dropout] = [settings.need("ds.lora.alpha"), settings.need("ds.lora.dropout")];
  const base = modelName(settings, "actor.model_name_or_path") ?? "tiny";
  draft.set("model", { base, ...(rank > 0 ? { adapter: { use: "lora", rank, alpha, dropout } } : {}) });
  if (settings.peek(`${chosen}.estimator`) === "gae") draft.set("model.value_heads", ["value"]);
  const [samples, episodes] = [settings.number("data.max_samples"), settings.need("train.num_episodes")];
  const prompts = settings.need("rollout.batch_size");
  if (samples !== undefined) {
    draft.set("steps", Math.max(1, Math.floor((samples * episodes) / prompts)));
    draft.say(
      "steps",
      `At most: max_samples ${samples} × ${plural(episodes, "episode")} / ${plural(prompts, "prompt")} a step.`,
    );
  } else
    draft.say(
      "model",
      `OpenRLHF trains ${plural(episodes, "episode")} of its data. Gradus counts steps: write \`steps\`.`,
    );
}

function tasks(settings: Settings, draft: Draft): void {
  const named = settings.text("data.prompt_dataset");
  const [input, label] = [settings.text("data.input_key") ?? "input", settings.text("data.label_key")];
  const template = settings.text("data.input_template");
  settings.get("data.prompt_split");
  if (named === undefined) {
    settings.refuse("data.prompt_dataset", "no data is named: write `tasks`", null);
    return;
  }
  const weights = settings.text("data.prompt_probs")?.split(",").map(Number);
  const files = named.split(",").map((name) => name.trim());
  draft.set(
    "tasks",
    files.map((name, i) => ({
      ...datasetTask(settings, "data.prompt_dataset", name),
      prompt: (template ?? "{}").replaceAll("\\n", "\n").replace("{}", `{${input}}`),
      ...fields({
        answer: label === undefined ? undefined : `{${label}}`,
        weight: weights?.[i],
        max_prompt: settings.number("data.prompt_max_len"),
      }),
    })),
  );
}

function sampling(settings: Settings, draft: Draft): void {
  const length = settings.number("rollout.max_new_tokens") ?? settings.need("data.max_len");
  settings.get("data.max_len");
  draft.set("rollout", {
    prompts: settings.need("rollout.batch_size"),
    group: settings.need("rollout.n_samples_per_prompt"),
    max_tokens: length,
    temperature: settings.need("rollout.temperature"),
    ...(settings.need("rollout.top_p") === 1 ? {} : { top_p: settings.need("rollout.top_p") }),
    ...(settings.flag("data.apply_chat_template") ? { chat: true } : { chat: false }),
  });
  if (settings.peek("rollout.max_new_tokens") === undefined)
    draft.say(
      "rollout",
      "max_len bounds prompt and response together in OpenRLHF; here it bounds the response.",
    );
  const range = settings.list("algo.dynamic_filtering_range")?.map(Number) ?? [0, 1];
  if (!settings.flag("algo.dynamic_filtering_enable")) return;
  draft.set("curriculum", {
    admission: { use: "success_band", low: range[0]!, high: range[1]!, refill: "adaptive" },
  });
  draft.say(
    "curriculum",
    "OpenRLHF filters by a group's mean score, strictly inside the range; here by its share of successes.",
  );
}

function rewards(settings: Settings, draft: Draft): void {
  const url = settings.text("reward.remote_url");
  const file = url !== undefined && /\.py$/.test(url) ? fromHome(url) : undefined;
  const use = file === undefined ? "exact_match" : `${/^[./]/.test(file) ? file : `./${file}`}:reward_func`;
  for (const key of ["reward.remote_url", "reward.model_name_or_path", "train.agent_func_path"]) {
    const value = settings.get(key);
    if (value !== undefined && value !== null && !(key === "reward.remote_url" && file !== undefined))
      settings.refuse(
        key,
        "reward servers, reward models and agents are no terms of this version; `exact_match` stands in",
      );
  }
  const terms: Record<string, JsonObject> = { score: { use } };
  const buffer = settings.number("reward.overlong_buffer_len");
  const factor = settings.need("reward.overlong_penalty_factor");
  if (buffer !== undefined) {
    const limit = settings.number("rollout.max_new_tokens") ?? settings.need("data.max_len");
    terms["overlong"] = { use: "length", shape: "soft_overlong", limit, cache: buffer, weight: factor };
  }
  draft.set("reward", { terms });
}

/** Over all trained tokens of the step: n in the variance, which is at least 1e-8. */
const whiten = (settings: Settings): JsonObject => ({
  over: "tokens",
  population: true,
  epsilon: 1e-8,
  inside: "floor",
  ...(settings.flag(`${chosen}.no_std_norm`) ? { scale: false } : {}),
});

function advantage(settings: Settings, draft: Draft): void {
  const name = settings.text(`${chosen}.estimator`) ?? "gae";
  const gamma = settings.need(`${chosen}.gamma`);
  const [low, high] = settings.list("reward.clip_range")?.map(Number) ?? [-10, 10];
  // The range bounds what is left of a reward behind its baseline; KL is taken off each token behind that.
  const apart: JsonObject = {
    penalty: "apart",
    clip: { low: Math.min(0, low!), high: Math.max(0, high!) },
  };
  if (name === "gae" && (low !== -10 || high !== 10))
    settings.refuse("reward.clip_range", "with a critic nothing bounds the reward itself");
  const table: Readonly<Record<string, () => JsonObject>> = {
    gae: () => ({
      baseline: { use: "critic", lambda: settings.need(`${chosen}.lambd`) },
      scale: "none",
      level: "token",
      gamma,
      observations: "discount",
      whiten: whiten(settings),
    }),
    reinforce: () => ({
      baseline: "none",
      scale: "none",
      level: "token",
      gamma,
      observations: "discount",
      whiten: whiten(settings),
    }),
    rloo: () => ({ baseline: "leave_one_out", scale: "none" }),
    reinforce_baseline: () => ({ baseline: "group_mean", scale: "none", whiten: whiten(settings) }),
    group_norm: () => ({ baseline: "group_mean", scale: { use: "group_std", epsilon: 1e-9 } }),
    dr_grpo: () => ({ baseline: "group_mean", scale: "none" }),
    flash_reinforce: () => ({ baseline: "batch_mean", scale: "none" }),
  };
  const found = table[name];
  if (found === undefined)
    settings.refuse(`${chosen}.estimator`, "unknown to OpenRLHF 0.11; group_mean stands in");
  draft.set("advantage", { ...(found ?? table["dr_grpo"]!)(), ...(name === "gae" ? {} : apart) });
}

function objective(settings: Settings, draft: Draft): void {
  const both = settings.list("actor.eps_clip_low_high")?.map(Number);
  const clip = settings.need("actor.eps_clip");
  const [low, high] = both ?? [clip, clip];
  const sequence = settings.text("actor.policy_loss_type") === "gspo";
  const dual = settings.number("actor.dual_clip");
  const entropy = settings.number("actor.entropy_coef") ?? 0;
  const mean: JsonObject = { use: "sequence_mean", empty_rows: "skip" };
  const perSequence = sequence || settings.text("actor.loss_agg_mode") === "seq-mean-token-mean";
  const corrected = correction(settings);
  draft.set("objective", {
    use: "clipped",
    low: low!,
    high: high!,
    ...fields({ dual }),
    ...(sequence ? { ratio: "sequence" } : { clamp_log_ratio: 20 }),
    // Under GSPO the ratio itself is taken against what vLLM drew from.
    ...(sequence && corrected !== undefined ? { anchor: "sampled" } : {}),
    ...(!sequence && corrected !== undefined ? { correction: [corrected] } : {}),
    aggregate: perSequence ? mean : "token_mean",
    ...(entropy === 0
      ? {}
      : { entropy: perSequence ? { coefficient: entropy, aggregate: "token_mean" } : entropy }),
  });
  draft.set("kl", kl(settings, perSequence));
}

function kl(settings: Settings, perSequence: boolean): JsonObject[] {
  const start = settings.need("algo.kl.init_coef");
  const [target, horizon] = [settings.number("algo.kl.target"), settings.need("algo.kl.horizon")];
  const inLoss = settings.flag("algo.kl.use_loss");
  const kind = settings.text("algo.kl.estimator") ?? "k1";
  const unbiased = settings.flag("algo.kl.unbiased_gradient");
  if (start <= 0) return [];
  const estimator: JsonObject = {
    use: kind,
    ...(kind === "k3" ? { clamp_log_ratio: { low: -10 } } : {}),
    clamp: 10,
  };
  return [
    {
      model: "reference",
      estimator: inLoss && unbiased ? { ...estimator, straight_through: true } : estimator,
      place: inLoss ? "loss" : "reward",
      coefficient: target === undefined ? start : { use: "adaptive", initial: start, target, horizon },
      // A mean over tokens, whatever the policy's loss does.
      ...(inLoss && perSequence ? { aggregate: "token_mean" } : {}),
      ...(inLoss && unbiased ? { importance_weighted: { of: "gradient", detached: true, cap: 10 } } : {}),
    },
  ];
}

/** 0.11.0 and 0.11.1 have types, 0.11.2 a level, a mode and a gate. undefined: off. */
function correction(settings: Settings): JsonObject | undefined {
  const written = settings.list(`${chosen}.is_correction_threshold`)?.map(Number) ?? [0.5, 5];
  const [low, high] = written.length === 1 ? [0, written[0]!] : [written[0]!, written[1]!];
  const type = settings.text(`${chosen}.is_correction_type`);
  const level = settings.text(`${chosen}.is_correction_level`);
  const mode = settings.text(`${chosen}.is_correction_mode`);
  const gate = settings.text(`${chosen}.is_correction_gating`);
  if (settings.flag(`${chosen}.is_correction_enable`)) {
    if (type === "icepop") return { use: "mask", level: "token", low, high };
    if (type === "seq-mask-tis") return { use: "mask", level: "sequence_mean", weight: "token", low, high };
    return { use: "truncate", level: "token", low, high };
  }
  if (level === undefined || level === "off") return undefined;
  if (mode === "clip") return { use: "truncate", level: "token", low, high };
  const statistic: Json = gate === "ratio" || gate === undefined ? "ratio" : gate;
  return {
    use: "mask",
    level: level === "seq" ? "sequence_mean" : "token",
    ...(statistic === "ratio" ? {} : { statistic }),
    weight: "token",
    low,
    high,
  };
}

function update(settings: Settings, draft: Draft): void {
  const [prompts, group] = [
    settings.need("rollout.batch_size"),
    settings.need("rollout.n_samples_per_prompt"),
  ];
  const mini = settings.need("train.batch_size");
  draft.say(
    "update",
    `rollout.batch_size ${prompts} prompts × ${group} = ${prompts * group} rollouts a step; train.batch_size ${mini} rollouts an optimiser step.`,
  );
  const ratio = settings.need("actor.lr_warmup_ratio");
  if (ratio > 0)
    settings.refuse(
      "actor.lr_warmup_ratio",
      "needs the number of optimiser steps: write `update.optimizer.warmup`",
    );
  const floor = settings.need("actor.min_lr_ratio");
  const kind = settings.text("actor.lr_scheduler");
  const schedule: Json | undefined =
    kind === "cosine_with_min_lr"
      ? { shape: "cosine", floor }
      : kind === "linear" || kind === "cosine"
        ? kind
        : undefined;
  draft.set("update", {
    optimizer: {
      use: "adamw",
      lr: settings.need("actor.adam.lr"),
      betas: [...(settings.list("actor.adam.betas") ?? [0.9, 0.95])],
      epsilon: settings.need("actor.adam.eps"),
      weight_decay: settings.need("actor.adam.weight_decay"),
      clip_norm: settings.need("actor.max_norm"),
      ...fields({ schedule }),
    },
    mini_batch: Math.min(mini, prompts * group),
    epochs: settings.need("train.max_epochs"),
  });
}
