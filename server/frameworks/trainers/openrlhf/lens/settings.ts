/** OpenRLHF 0.11 (dotted flags) → Gradus. `rollout.batch_size` counts prompts, `train.batch_size` rollouts. */
import { plural } from "../../../../../shared/lib/format.ts";
import type { Json, JsonObject } from "../../../../../shared/lib/json.ts";
import { setCritic } from "../../../lens/critic.ts";
import { ConfigDraft, fields } from "../../../lens/configDraft.ts";
import { dataNamed, modelName, named, otherSplit, pythonUse, stoodIn } from "../../../lens/paths.ts";
import { reasonBy, type Settings } from "../../../lens/settings.ts";
import { readOpenRlhfAdvantage } from "./advantage.ts";
import { objective } from "./algorithm.ts";
import { samplesOf } from "./flags.ts";

const chosen = "algo.advantage";

export const openrlhfReason = reasonBy(
  [
    [
      /micro_batch|max_tokens_per_gpu|dynamic_batch|vllm_generate_batch/,
      "Gradus splits the work to fit the memory by itself (`update.micro_tokens`, `rollout.lanes`)",
    ],
    [
      /^(ds|vllm|ref)\.|num_nodes|num_gpus|colocate|gradient_checkpointing|offload|local_rank|determinism|zero_stage|tensor_parallel|gpu_memory/,
      "configures a cluster of GPUs; Gradus trains on one machine",
    ],
    [/^(logger|ckpt)\.|wandb|tensorboard/, "Gradus records every run in its own store"],
    [/^critic\./, "no counterpart in the model `critic` and its learner under `auxiliary`"],
    [/^eval\./, "see the `evaluation` block"],
    [/^train\.async|partial_rollout/, "generation and training take turns in this version"],
    [/image|visual/, "this version does not train on images"],
    [/^reward\./, "no counterpart among the reward terms"],
    [/^data\./, "configures how OpenRLHF reads data"],
  ],
  "no counterpart in Gradus",
);

export function convertOpenRlhf(settings: Settings): ConfigDraft {
  const draft = new ConfigDraft();
  run(settings, draft);
  tasks(settings, draft);
  sampling(settings, draft);
  rewards(settings, draft);
  readOpenRlhfAdvantage(settings, draft);
  objective(settings, draft);
  update(settings, draft);
  return draft;
}

function run(settings: Settings, draft: ConfigDraft): void {
  draft.set("seed", settings.need("train.seed"));
  const rank = settings.need("ds.lora.rank");
  const [alpha, dropout] = [settings.need("ds.lora.alpha"), settings.need("ds.lora.dropout")];
  const base = modelName(settings, "actor.model_name_or_path");
  if (base === undefined)
    settings.refuse("actor.model_name_or_path", "no model is named; `tiny` is a placeholder", null);
  draft.set("model", {
    ...(base === undefined ? stoodIn(512, settings.need("data.max_len")) : { base }),
    ...(rank > 0 ? { adapter: { use: "lora", rank, alpha, dropout } } : {}),
  });
  const [{ samples, from }, episodes] = [samplesOf(settings), settings.need("train.num_episodes")];
  const prompts = settings.need("rollout.batch_size");
  if (samples !== undefined) {
    draft.set("steps", Math.max(1, Math.floor((samples * episodes) / prompts)));
    draft.say(
      "steps",
      `${from === "rows" ? "Rows" : "At most: max_samples"} ${samples} × ${plural(episodes, "episode")} / ${plural(prompts, "prompt")} a step.`,
    );
  } else
    draft.say(
      "model",
      `OpenRLHF trains ${plural(episodes, "episode")} of its data. Gradus counts steps: write \`steps\`.`,
    );
}

function tasks(settings: Settings, draft: ConfigDraft): void {
  const written = settings.text("data.prompt_dataset");
  const [input, label] = [settings.text("data.input_key") ?? "input", settings.text("data.label_key")];
  const template = settings.text("data.input_template");
  const split = settings.text("data.prompt_split");
  if (written === undefined) {
    settings.refuse("data.prompt_dataset", "no data is named: write `tasks`", null);
    draft.set("tasks", [{ dataset: "data.jsonl" }]);
    return;
  }
  const weights = settings.text("data.prompt_probs")?.split(",").map(Number);
  const files = written.split(",").map((name, i) => ({
    dataset: dataNamed(settings, "data.prompt_dataset", name.trim(), { path: [otherSplit(split)] }),
    weight: weights?.[i],
  }));
  draft.set(
    "tasks",
    named(
      files.map(({ dataset, weight }) => ({
        dataset,
        prompt: (template ?? "{}").replaceAll("\\n", "\n").replace("{}", `{${input}}`),
        ...fields({
          answer: label === undefined ? undefined : `{${label}}`,
          weight,
          max_prompt: settings.number("data.prompt_max_len"),
        }),
      })),
    ),
  );
}

function sampling(settings: Settings, draft: ConfigDraft): void {
  const length = settings.number("rollout.max_new_tokens") ?? settings.need("data.max_len");
  settings.get("data.max_len");
  draft.set("rollout", {
    prompts: settings.need("rollout.batch_size"),
    group: settings.need("rollout.n_samples_per_prompt"),
    max_tokens: length,
    // vLLM is asked for one at least.
    min_tokens: 1,
    temperature: settings.need("rollout.temperature"),
    ...(settings.need("rollout.top_p") === 1 ? {} : { top_p: settings.need("rollout.top_p") }),
    ...(settings.flag("data.apply_chat_template") ? { chat: true } : { chat: false }),
  });
  if (settings.peek("rollout.max_new_tokens") === undefined)
    draft.say(
      "rollout",
      "max_len bounds prompt and response together in OpenRLHF; in Gradus it bounds the response.",
    );
  const range = settings.list("algo.dynamic_filtering_range")?.map(Number) ?? [0, 1];
  if (!settings.flag("algo.dynamic_filtering_enable")) return;
  draft.set("curriculum", {
    admission: {
      use: "success_band",
      low: range[0]!,
      high: range[1]!,
      inclusive: false,
      refill: "adaptive",
    },
  });
  draft.say(
    "curriculum",
    "OpenRLHF filters by a group's mean score, strictly inside the range; Gradus filters by its share of successes.",
  );
}

/** Addresses of reward servers; none, where one of them is something else. */
function remoteServers(url: string | undefined): string[] {
  const parts = url?.split(",").map((part) => part.trim()) ?? [];
  return parts.every((part) => /^https?:\/\//.test(part)) ? parts : [];
}

const noSuchReward = "this version has no reward models or agents of OpenRLHF";

function rewards(settings: Settings, draft: ConfigDraft): void {
  // An agent wins over a remote reward, and both over a reward model.
  const byAgent = settings.text("train.agent_func_path") !== undefined;
  const url = byAgent ? undefined : settings.text("reward.remote_url");
  const file = url !== undefined && /\.py$/.test(url) ? url : undefined;
  const servers = file === undefined ? remoteServers(url) : [];
  const use = file === undefined ? "exact_match" : pythonUse(settings.file, file, "reward_func");
  for (const key of ["reward.remote_url", "reward.model_name_or_path", "train.agent_func_path"]) {
    const value = settings.get(key);
    const isRead = key === "reward.remote_url" && (file !== undefined || servers.length > 0);
    if (value === undefined || value === null || isRead) continue;
    if (file !== undefined || servers.length > 0) settings.refuse(key, noSuchReward);
    else settings.replaceReward(key, `${noSuchReward}; \`exact_match\` is a placeholder`);
  }
  const [first, ...more] = servers;
  const terms: Record<string, JsonObject> = {
    score: first === undefined ? { use } : { use: "remote_rm", url: more.length === 0 ? first : servers },
  };
  const buffer = settings.number("reward.overlong_buffer_len");
  const factor = settings.need("reward.overlong_penalty_factor");
  if (buffer !== undefined) {
    const limit = settings.number("rollout.max_new_tokens") ?? settings.need("data.max_len");
    terms["overlong"] = { use: "length", shape: "soft_overlong", limit, cache: buffer, weight: factor };
  }
  draft.set("reward", { terms });
}

function update(settings: Settings, draft: ConfigDraft): void {
  const [prompts, group] = [
    settings.need("rollout.batch_size"),
    settings.need("rollout.n_samples_per_prompt"),
  ];
  const mini = settings.need("train.batch_size");
  draft.say(
    "update",
    `rollout.batch_size ${prompts} prompts × ${group} = ${prompts * group} rollouts a step; train.batch_size ${mini} rollouts an optimiser step.`,
  );
  const warmup = warmupOf(settings, "actor", "update.optimizer.warmup");
  const schedule = course(settings);
  draft.set("update", {
    optimizer: {
      use: "adamw",
      lr: settings.need("actor.adam.lr"),
      betas: [...(settings.list("actor.adam.betas") ?? [0.9, 0.95])],
      epsilon: settings.need("actor.adam.eps"),
      weight_decay: settings.need("actor.adam.weight_decay"),
      ...(warmup > 0 ? { warmup } : {}),
      clip_norm: settings.need("actor.max_norm"),
      ...fields({ schedule }),
    },
    mini_batch: Math.min(mini, prompts * group),
    epochs: settings.need("train.max_epochs"),
  });
  if (settings.peek(`${chosen}.estimator`) === "gae")
    critic(settings, draft, Math.min(mini, prompts * group));
}

/** Updates of the warm-up: a share of all that OpenRLHF counts. @param key of ours */
function warmupOf(settings: Settings, section: "actor" | "critic", key: string): number {
  const ratio = settings.need(`${section}.lr_warmup_ratio`);
  // Transformers' `constant` has no warm-up.
  if (ratio <= 0 || settings.peek(`${section}.lr_scheduler`) === "constant") return 0;
  const { samples } = samplesOf(settings);
  if (samples === undefined) {
    settings.refuse(`${section}.lr_warmup_ratio`, `needs the number of optimiser steps: write \`${key}\``);
    return 0;
  }
  const group = settings.need("rollout.n_samples_per_prompt");
  const rounds = settings.need("train.num_episodes") * settings.need("train.max_epochs");
  const updates = Math.floor((samples * group) / settings.need("train.batch_size")) * rounds;
  return Math.ceil(updates * ratio);
}

/** By the names of Transformers; the least rate counts for the two that have one. */
function course(settings: Settings): Json | undefined {
  const floor = settings.need("actor.min_lr_ratio");
  const kind = settings.text("actor.lr_scheduler") ?? "";
  if (["cosine_with_min_lr", "cosine_warmup_with_min_lr"].includes(kind)) return { shape: "cosine", floor };
  if (["linear", "cosine", "inverse_sqrt"].includes(kind)) return kind;
  if (!["constant", "constant_with_warmup"].includes(kind))
    settings.refuse(
      "actor.lr_scheduler",
      "Gradus has no such learning-rate schedule; the rate stays constant",
    );
  return undefined;
}

/** Its weights are named, or those of the reward model, or the policy's. */
function critic(settings: Settings, draft: ConfigDraft, rows: number): void {
  const named = ["critic.model_name_or_path", "reward.model_name_or_path"].find((key) => settings.has(key));
  const base = modelName(settings, named ?? "actor.model_name_or_path");
  const warmup = warmupOf(settings, "critic", "models.critic.optimizer.warmup");
  if (!/^constant/.test(settings.text("critic.lr_scheduler") ?? ""))
    settings.refuse(
      "critic.lr_scheduler",
      "in Gradus the learning rate of a critic with an optimiser of its own stays constant",
    );
  settings.get("critic.min_lr_ratio");
  setCritic(draft, {
    model: base === undefined ? stoodIn(512, settings.need("data.max_len")) : { base },
    optimizer: {
      lr: settings.need("critic.adam.lr"),
      betas: [...(settings.list("critic.adam.betas") ?? [0.9, 0.95])],
      epsilon: settings.need("critic.adam.eps"),
      weight_decay: settings.need("critic.adam.weight_decay"),
      ...(warmup > 0 ? { warmup } : {}),
      clip_norm: settings.need("critic.max_norm"),
    },
    clip: settings.need("critic.value_clip"),
    each: "token",
    rows,
    rounds: settings.need("train.max_epochs"),
  });
}
