/** SkyRL 0.3.0 → Gradus. SkyRL counts prompts: `train_batch_size` and `policy_mini_batch_size` are of prompts. */
import { plural } from "../../../../../shared/lib/format.ts";
import type { Json, JsonObject } from "../../../../../shared/lib/json.ts";
import { rowsHave } from "../../../readers/dataFiles.ts";
import { matrices } from "../../../carried/matrices.ts";
import { isObject } from "../../../text/values.ts";
import { setCritic } from "../../../lens/critic.ts";
import { ConfigDraft, fields } from "../../../lens/configDraft.ts";
import { dataNamed, modelName, named, stoodIn } from "../../../lens/paths.ts";
import { reasonBy, type Settings } from "../../../lens/settings.ts";
import { readSkyrlAdvantage } from "./advantage.ts";
import { aggregateOf, readSkyrlObjective } from "./objective.ts";
import { readSkyrlPenalties } from "./penalties.ts";

const algorithm = "trainer.algorithm";
const sampling = "generator.sampling_params";
const lora = "trainer.policy.model.lora";

export const skyrlReason = reasonBy(
  [
    [
      /(micro_|max_tokens_per_microbatch|max_num_batched|max_num_seqs|chunked_prefill|logprobs_chunk)/,
      "Gradus splits the work to fit the memory by itself (`update.micro_tokens`, `rollout.lanes`)",
    ],
    [
      /(placement|fsdp|megatron|strategy|parallel|inference_engine|offload|flash_attn|checkpointing|expandable|weight_sync|\bbf16|microbatch_padding|compile|lora_sync)/,
      "configures a cluster of GPUs; Gradus trains on one machine",
    ],
    [
      /^trainer\.(logger|project_name|export_path|ckpt_path|log_|tags|dump_|num_logger|print_)/,
      "Gradus records every run in its own store",
    ],
    [/eval/, "see the `evaluation` block"],
    [/^trainer\.ref\./, "Gradus copies the policy as the reference, which needs no settings"],
    [/^trainer\.critic\./, "no counterpart in the model `critic` and its learner under `auxiliary`"],
    [/(max_turns|multi_turn|step_wise|skyrl_gym)/, "this version has no conversations with tools"],
    [/fully_async/, "a run of Gradus generates and trains in turn"],
    [/^data\./, "configures how SkyRL reads data"],
    [/^trainer\./, "configures SkyRL's trainer"],
  ],
  "no counterpart in Gradus",
);

export function convertSkyrl(settings: Settings): ConfigDraft {
  const draft = new ConfigDraft();
  // Of a project that `gradus export` wrote.
  settings.get("project");
  const aggregate = aggregateOf(settings);
  run(settings, draft);
  tasks(settings, draft);
  rollout(settings, draft);
  reward(settings, draft);
  readSkyrlAdvantage(settings, draft);
  draft.set("objective", readSkyrlObjective(settings, aggregate));
  draft.set("kl", readSkyrlPenalties(settings, aggregate));
  draft.set("mask", settings.flag("generator.apply_overlong_filtering") ? ["overlong"] : []);
  batches(settings, draft);
  return draft;
}

function run(settings: Settings, draft: ConfigDraft): void {
  const name = settings.text("trainer.run_name");
  if (settings.has("trainer.run_name") && name !== undefined && !name.includes("$")) draft.set("name", name);
  if (settings.has("trainer.seed")) draft.set("seed", settings.need("trainer.seed"));
  const steps = settings.number("trainer.max_training_steps");
  const epochs = settings.need("trainer.epochs");
  if (steps !== undefined) draft.set("steps", steps);
  else
    draft.say(
      "model",
      `SkyRL trains ${plural(epochs, "epoch")} of its data. Gradus counts steps: write \`steps\` (prompts in the data × epochs / rollout.prompts).`,
    );
  const base = modelName(settings, "trainer.policy.model.path");
  draft.set("model", {
    ...(base === undefined ? stoodIn(longestPrompt(settings), longestResponse(settings)) : { base }),
    ...adapter(settings),
  });
  const every = settings.need("trainer.eval_interval");
  if (settings.has("trainer.eval_interval") && every > 0) draft.set("evaluation", { every });
  const save = settings.need("trainer.ckpt_interval");
  const keep = settings.need("trainer.max_ckpts_to_keep");
  if (settings.has("trainer.ckpt_interval") && save > 0)
    draft.set("checkpoint", { every: save, ...(keep > 0 ? { keep } : {}) });
}

const longestPrompt = (settings: Settings): number => settings.need("trainer.max_prompt_length");
const longestResponse = (settings: Settings): number => settings.need(`${sampling}.max_generate_length`);

function adapter(settings: Settings): JsonObject {
  const [rank, alpha, dropout] = ["rank", "alpha", "dropout"].map((key) =>
    settings.need(`${lora}.${key}`),
  ) as [number, number, number];
  const targets = settings.list(`${lora}.target_modules`) ?? [];
  if (rank <= 0) return {};
  const own = Object.entries(matrices).flatMap(([name, theirs]) => (targets.includes(theirs) ? [name] : []));
  if (own.length !== targets.length && targets[0] !== "all-linear")
    settings.refuse(`${lora}.target_modules`, "Gradus adapts the matrices of attention and of the MLP");
  const chosen = own.length > 0 && own.length < Object.keys(matrices).length ? { targets: own } : {};
  return {
    adapter: { use: "lora", rank, alpha, ...(dropout > 0 ? { dropout } : {}), ...chosen },
  };
}

function tasks(settings: Settings, draft: ConfigDraft): void {
  const files = (settings.list("data.train_data") ?? []).map((file) =>
    dataNamed(settings, "data.train_data", String(file)),
  );
  if (settings.has("data.val_data"))
    settings.refuse("data.val_data", "Gradus evaluates on tasks of the same files that training never draws");
  const longest = longestPrompt(settings);
  const made = files.map((dataset) => ({
    dataset,
    prompt: "{prompt}",
    ...fields({ answer: answerOf(settings, dataset) }),
    max_prompt: longest,
    // Longer ones are left out.
    overlong: "filter",
  }));
  draft.set("tasks", made.length === 0 ? [{ dataset: "data.jsonl" }] : named(made));
}

const reference = "reward_spec.ground_truth";

function answerOf(settings: Settings, dataset: string): string | undefined {
  if (rowsHave(settings.file, dataset, reference) !== false) return `{${reference}}`;
  settings.refuse(
    "data.train_data",
    `the rows have no \`${reference}\`, which environments of SkyRL compare with: write \`answer\` where they have one`,
    dataset,
  );
  return undefined;
}

function rollout(settings: Settings, draft: ConfigDraft): void {
  const temperature = settings.need(`${sampling}.temperature`);
  const [p, k, least] = ["top_p", "top_k", "min_p"].map((key) => settings.need(`${sampling}.${key}`)) as [
    number,
    number,
    number,
  ];
  const stop = settings.list(`${sampling}.stop`);
  draft.set("rollout", {
    prompts: promptsOf(settings),
    group: settings.need("generator.n_samples_per_prompt"),
    max_tokens: longestResponse(settings),
    temperature,
    ...fields({
      top_p: p === 1 ? undefined : p,
      top_k: k > 0 ? k : undefined,
      min_p: least > 0 ? least : undefined,
      stop: stop === undefined ? undefined : [...stop],
    }),
    ...penalties(settings),
  });
  trainedAt(settings, temperature);
  filtered(settings, draft);
}

const promptsOf = (settings: Settings): number => Math.max(1, settings.need("trainer.train_batch_size"));

/** What is handed to vLLM as it is. SkyRL's own `repetition_penalty` is not. */
function penalties(settings: Settings): JsonObject {
  const further = settings.below(`${sampling}.additional_kwargs`) ?? {};
  const known = ["repetition_penalty", "presence_penalty", "frequency_penalty"];
  for (const [name, value] of Object.entries(isObject(further) ? further : {}))
    if (!known.includes(name))
      settings.refuse(
        `${sampling}.additional_kwargs.${name}`,
        "a setting of vLLM without a counterpart",
        value,
      );
  if (settings.need(`${sampling}.repetition_penalty`) !== 1)
    settings.refuse(
      `${sampling}.repetition_penalty`,
      "SkyRL 0.3.0 does not hand it to vLLM, so it has no effect: write `rollout.repetition_penalty` if you mean it",
    );
  return Object.fromEntries(Object.entries(further).filter(([name]) => known.includes(name)));
}

/** SkyRL divides the logits of all that trains, by default by the sampler's temperature. */
function trainedAt(settings: Settings, sampled: number): void {
  const key = `${algorithm}.temperature`;
  const own = settings.number(key) ?? sampled;
  if (own !== 1)
    settings.refuse(key, "SkyRL trains the policy at this temperature, Gradus at 1, whatever samples", own);
}

function filtered(settings: Settings, draft: ConfigDraft): void {
  const section = `${algorithm}.dynamic_sampling`;
  const type = settings.text(`${section}.type`);
  for (const key of ["max_sample_batches", "min_replace_ratio"]) settings.get(`${section}.${key}`);
  if (type === "filter")
    draft.set("curriculum", { admission: { use: "nonzero_variance", refill: "adaptive" } });
  else if (type !== undefined)
    settings.refuse(`${section}.type`, "Gradus draws other groups in the place of those without variance");
  settings.get(`${algorithm}.zero_variance_filter_tol`);
  if (settings.flag(`${algorithm}.zero_variance_filter`))
    settings.refuse(
      `${algorithm}.zero_variance_filter`,
      "SkyRL masks groups without variance only where rewards are of whole responses (`generator.batched`); see `curriculum.admission`",
    );
}

/** SkyRL's environments score; which of ours is the same is not guessed. */
function reward(settings: Settings, draft: ConfigDraft): void {
  const name = settings.text("environment.env_class") ?? "";
  settings.replaceReward(
    "environment.env_class",
    `SkyRL scores by its environment \`${name}\`; \`exact_match\` is a placeholder: write the terms that fit`,
    name,
  );
  draft.set("reward", { terms: { score: { use: "exact_match" } } });
}

function batches(settings: Settings, draft: ConfigDraft): void {
  const [prompts, n] = [promptsOf(settings), settings.need("generator.n_samples_per_prompt")];
  const mini = Math.max(1, settings.need("trainer.policy_mini_batch_size"));
  const epochs = settings.need("trainer.update_epochs_per_batch");
  draft.say(
    "update",
    `SkyRL counts prompts: policy_mini_batch_size ${mini} × n_samples_per_prompt ${n} = ${plural(mini * n, "rollout")} an optimiser step;\ntrain_batch_size ${prompts} × ${n} = ${prompts * n} a step.`,
  );
  draft.set("update", {
    optimizer: { use: "adamw", ...optimizer(settings, "trainer.policy.optimizer_config") },
    mini_batch: Math.min(mini, prompts) * n,
    epochs,
  });
  if (settings.text(`${algorithm}.advantage_estimator`) !== "gae") return;
  const place = "trainer.critic.optimizer_config";
  const base = modelName(settings, "trainer.critic.model.path");
  setCritic(draft, {
    model: base === undefined ? stoodIn(longestPrompt(settings), longestResponse(settings)) : { base },
    optimizer: optimizer(settings, place),
    clip: settings.need(`${algorithm}.value_clip`),
    each: "rollout",
    rows: Math.min(settings.need("trainer.critic_mini_batch_size"), prompts) * n,
    rounds: epochs,
  });
}

function optimizer(settings: Settings, section: string): JsonObject {
  const [warmup, norm] = [
    settings.need(`${section}.num_warmup_steps`),
    settings.need(`${section}.max_grad_norm`),
  ];
  return {
    lr: settings.need(`${section}.lr`),
    betas: [...(settings.list(`${section}.adam_betas`) ?? [0.9, 0.999])],
    weight_decay: settings.need(`${section}.weight_decay`),
    ...fields({ warmup: warmup > 0 ? warmup : undefined }),
    clip_norm: norm > 0 ? norm : null,
    ...course(settings, `${section}.scheduler`),
  };
}

function course(settings: Settings, key: string): Record<string, Json> {
  const kind = settings.text(key) ?? "constant_with_warmup";
  if (kind === "linear" || kind === "cosine") return { schedule: kind };
  if (kind !== "constant" && kind !== "constant_with_warmup")
    settings.refuse(key, "Gradus keeps the learning rate constant here: see `update.optimizer.schedule`");
  return {};
}
