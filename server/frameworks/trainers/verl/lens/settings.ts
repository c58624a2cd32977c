/** verl 0.9.1 (Hydra) → Gradus. verl counts prompts: `train_batch_size` and `ppo_mini_batch_size` are of prompts. */
import { plural } from "../../../../../shared/lib/format.ts";
import type { JsonObject } from "../../../../../shared/lib/json.ts";
import { rowsHave } from "../../../readers/dataFiles.ts";
import { ConfigDraft, fields } from "../../../lens/configDraft.ts";
import { dataNamed, modelName, named, stoodIn } from "../../../lens/paths.ts";
import { reasonBy, type Settings } from "../../../lens/settings.ts";
import { readVerlAdvantage } from "./advantage.ts";
import { masks, rejectionNote } from "./correction.ts";
import { verlCritic } from "./critic.ts";
import { aggregateOf, readVerlObjective } from "./objective.ts";
import { readVerlPenalties } from "./penalties.ts";
import { rewards, unreadReason } from "./reward.ts";

const actor = "actor_rollout_ref.actor";
const rollout = "actor_rollout_ref.rollout";
const model = "actor_rollout_ref.model";

const reasonOf = reasonBy(
  [
    [
      /(micro_batch|max_token_len|dynamic_bsz|max_num_batched|max_num_seqs|chunked|prefetch)/,
      "Gradus splits the work to fit the memory by itself (`update.micro_tokens`, `rollout.lanes`)",
    ],
    [
      /(fsdp|megatron|offload|tensor_model_parallel|pipeline|ulysses|sequence_parallel|expert|nnodes|n_gpus|nccl|data_parallel|strategy|torch_compile|fused|remove_padding|checkpointing|balance_batch|free_cache|enforce_eager|gpu_memory|dtype|load_format|veomni|torchtitan)/,
      "configures a cluster of GPUs; Gradus trains on one machine",
    ],
    [
      /^trainer\.(logger|project_name|default_|log_val|rollout_data_dir|validation_data_dir)/,
      "Gradus records every run in its own store",
    ],
    [/^trainer\./, "configures verl's trainer"],
    [
      /^(ray_kwargs|ray_init|global_profiler|transfer_queue|hydra)/,
      "configures the cluster that verl runs on",
    ],
    [
      /^algorithm\.rollout_is|tis_imp_ratio_cap/,
      "an earlier release's correction of this kind is not converted: see `objective.correction`",
    ],
    [/^critic\./, "no counterpart in the model `critic` and its learner under `auxiliary`"],
    [
      /^(reward_model|reward)\./,
      "Gradus has no reward servers of this kind: write a function as a term in `reward.terms`",
    ],
    [/multi_turn|agent|tool/, "this version has no conversations with tools"],
    [/\.(name|mode)$/, "names an engine of verl"],
    [/^data\./, "configures how verl reads data"],
    [/val_kwargs|validation/, "see the `evaluation` block"],
    [/^actor_rollout_ref\.ref\./, "Gradus copies the policy as the reference, which needs no settings"],
    [
      /config-(path|name)/,
      "the configuration that the command line builds on was not found next to the script",
    ],
  ],
  "no counterpart in Gradus",
);
export const verlReason = (key: string, settings: Settings): string =>
  unreadReason(key, settings) ?? reasonOf(key);

export function convertVerl(settings: Settings): ConfigDraft {
  const draft = new ConfigDraft();
  const aggregate = aggregateOf(settings);
  run(settings, draft);
  tasks(settings, draft);
  sampling(settings, draft);
  rewards(settings, draft);
  readVerlAdvantage(settings, draft);
  const loss = readVerlObjective(settings, aggregate);
  draft.set("objective", loss);
  draft.set("kl", readVerlPenalties(settings, loss, aggregate));
  draft.set("mask", masks(settings));
  rejectionNote(settings);
  comments(settings, draft, loss);
  batches(settings, draft);
  return draft;
}

function run(settings: Settings, draft: ConfigDraft): void {
  const name = settings.text("trainer.experiment_name");
  if (name !== undefined && !name.includes("$")) draft.set("name", name);
  const seed = settings.number("data.seed") ?? settings.number(`${actor}.data_loader_seed`);
  if (settings.has("data.seed") && seed !== undefined) draft.set("seed", seed);
  const steps = settings.number("trainer.total_training_steps");
  if (steps !== undefined) draft.set("steps", steps);
  else {
    const epochs = settings.number("trainer.total_epochs");
    draft.say(
      "model",
      `verl trains ${plural(epochs ?? 30, "epoch")} of its data. Gradus counts steps: write \`steps\` (prompts in the data × epochs / rollout.prompts).`,
    );
  }
  if (settings.has("trainer.total_epochs"))
    settings.refuse(
      "trainer.total_epochs",
      "Gradus counts steps: write `steps` (prompts in the data × epochs / rollout.prompts)",
    );
  const rank = settings.need(`${model}.lora_rank`);
  const alpha = settings.need(`${model}.lora_alpha`);
  const base = modelName(settings, `${model}.path`);
  if (base === undefined)
    settings.refuse(`${model}.path`, "no model is named; `tiny` is a placeholder", null);
  const [prompt, response] = [
    settings.need("data.max_prompt_length"),
    settings.need("data.max_response_length"),
  ];
  draft.set("model", {
    ...(base === undefined ? stoodIn(prompt, response) : { base }),
    ...(rank > 0 ? { adapter: { use: "lora", rank, alpha } } : {}),
  });
  const every = settings.number("trainer.test_freq");
  if (every !== undefined && every > 0) draft.set("evaluation", { every });
  const save = settings.number("trainer.save_freq");
  if (save !== undefined && save > 0) draft.set("checkpoint", { every: save });
}

function tasks(settings: Settings, draft: ConfigDraft): void {
  const files = (settings.list("data.train_files") ?? []).map((file) =>
    dataNamed(settings, "data.train_files", String(file)),
  );
  if (settings.has("data.val_files"))
    settings.refuse(
      "data.val_files",
      "Gradus evaluates on tasks of the same files that training never draws",
    );
  const prompt = settings.text("data.prompt_key") ?? "prompt";
  const longest = settings.need("data.max_prompt_length");
  const filter = settings.flag("data.filter_overlong_prompts");
  const truncation = settings.text("data.truncation");
  const overlong = filter ? "filter" : truncation === "left" ? "left_truncate" : "error";
  if (truncation === "right" || truncation === "middle")
    settings.refuse("data.truncation", "Gradus cuts prompts on the left, filters them or refuses them");
  const shuffle = settings.peek("data.shuffle") === false ? { shuffle: false } : {};
  settings.get("data.shuffle");
  const made = files.map((dataset) => ({
    dataset,
    prompt: `{${prompt}}`,
    ...fields({ answer: answerOf(settings, dataset) }),
    max_prompt: longest,
    overlong,
    ...shuffle,
  }));
  if (made.length === 0) settings.refuse("data.train_files", "no data is named: write `tasks`", null);
  draft.set("tasks", made.length === 0 ? [{ dataset: "data.jsonl" }] : named(made));
}

const reference = "reward_model.ground_truth";

/** Rows that do not keep verl's reference answer have none. */
function answerOf(settings: Settings, dataset: string): string | undefined {
  if (rowsHave(settings.file, dataset, reference) !== false) return `{${reference}}`;
  settings.refuse(
    "data.train_files",
    `the rows have no \`${reference}\`, which verl's rewards compare with: write \`answer\` where they have one`,
    dataset,
  );
  return undefined;
}

function sampling(settings: Settings, draft: ConfigDraft): void {
  const sampled = settings.peek(`${rollout}.do_sample`) !== false;
  settings.get(`${rollout}.do_sample`);
  const k = settings.need(`${rollout}.top_k`);
  const temperature = settings.need(`${rollout}.temperature`);
  draft.set("rollout", {
    prompts: promptsOf(settings),
    group: settings.need(`${rollout}.n`),
    max_tokens: settings.number(`${rollout}.response_length`) ?? settings.need("data.max_response_length"),
    temperature: sampled ? temperature : 0,
    ...fields({
      top_p: settings.need(`${rollout}.top_p`) === 1 ? undefined : settings.need(`${rollout}.top_p`),
      top_k: k > 0 ? k : undefined,
    }),
  });
  settings.get("data.max_response_length");
  if (settings.flag("algorithm.filter_groups.enable")) {
    draft.set("curriculum", { admission: { use: "nonzero_variance", refill: "adaptive" } });
    draft.say(
      "curriculum",
      `filter_groups: groups whose ${settings.text("algorithm.filter_groups.metric") ?? "reward"} is all the same are drawn again.`,
    );
    if (settings.peek("algorithm.filter_groups.metric") !== "reward")
      settings.refuse("algorithm.filter_groups.metric", "Gradus filters groups by their combined reward");
    settings.get("algorithm.filter_groups.max_num_gen_batches");
  }
  settings.get("algorithm.filter_groups.metric");
}

function comments(settings: Settings, draft: ConfigDraft, loss: JsonObject): void {
  if (loss["dual"] !== undefined && !settings.has(`${actor}.clip_ratio_c`))
    draft.say("objective", "verl clips twice by default: clip_ratio_c = 3.");
  if (JSON.stringify(loss["aggregate"]).includes("skip"))
    draft.say("objective", "Rollouts without any training token are left out of the mean (verl's agg_loss).");
}

/** A fully asynchronous run of verl has a batch size of 0 and draws prompts one by one. */
const promptsOf = (settings: Settings): number => Math.max(1, settings.need("data.train_batch_size"));

function batches(settings: Settings, draft: ConfigDraft): void {
  const [prompts, n] = [promptsOf(settings), settings.need(`${rollout}.n`)];
  const mini = Math.max(1, settings.need(`${actor}.ppo_mini_batch_size`));
  draft.say(
    "update",
    `verl counts prompts: ppo_mini_batch_size ${mini} × rollout.n ${n} = ${plural(mini * n, "rollout")} an optimiser step;\ntrain_batch_size ${prompts} × ${n} = ${prompts * n} a step.`,
  );
  const optim = `${actor}.optim`;
  const warmup = settings.need(`${optim}.lr_warmup_steps`);
  const share = settings.need(`${optim}.lr_warmup_steps_ratio`);
  if (warmup < 0 && share > 0) {
    const steps = settings.number("trainer.total_training_steps");
    if (steps === undefined)
      settings.refuse(
        `${optim}.lr_warmup_steps_ratio`,
        "needs the number of steps: write `update.optimizer.warmup`",
      );
    else draft.say("update", `warm-up: ${share} of ${plural(steps, "step")}.`);
  }
  const total = settings.number("trainer.total_training_steps");
  const steps = warmup > 0 ? warmup : share > 0 && total !== undefined ? Math.round(share * total) : 0;
  draft.set("update", {
    optimizer: {
      use: "adamw",
      lr: settings.need(`${optim}.lr`),
      betas: [...(settings.list(`${optim}.betas`) ?? [0.9, 0.999])],
      weight_decay: settings.need(`${optim}.weight_decay`),
      ...fields({
        warmup:
          steps > 0
            ? steps * Math.max(1, Math.ceil(prompts / mini)) * settings.need(`${actor}.ppo_epochs`)
            : undefined,
      }),
      clip_norm: settings.number(`${optim}.clip_grad`) ?? settings.need(`${actor}.grad_clip`),
      ...course(settings, optim),
    },
    mini_batch: Math.min(mini, prompts) * n,
    epochs: settings.need(`${actor}.ppo_epochs`),
  });
  if (settings.text("algorithm.adv_estimator") === "gae") verlCritic(settings, draft, { prompts, n, mini });
}

function course(settings: Settings, optim: string): JsonObject {
  const kind = settings.text(`${optim}.warmup_style`) ?? settings.text(`${optim}.lr_scheduler_type`);
  settings.get(`${optim}.lr_scheduler_type`);
  const floor = settings.need(`${optim}.min_lr_ratio`);
  if (kind === "cosine") return { schedule: floor > 0 ? { shape: "cosine", floor } : "cosine" };
  return {};
}
