/** prime-rl 0.8 (`rl.toml`) → Gradus. prime-rl counts rollouts, and takes one step of its optimiser on a batch. */
import type { Json, JsonObject } from "../../../../../shared/lib/json.ts";
import { ConfigDraft, fields } from "../../../lens/configDraft.ts";
import { modelName } from "../../../lens/paths.ts";
import { algorithm } from "./algorithm.ts";
import { reasonBy, type Settings } from "../../../lens/settings.ts";

const orchestrator = "orchestrator";
const source = "orchestrator.train.source";
const optim = "trainer.optim";
const scheduler = "trainer.scheduler";

export const primeRlReason = reasonBy(
  [
    [
      /^(deployment|slurm|inference|weight_broadcast|rollout_transport|env_vars)\b/,
      "configures a cluster of GPUs; Gradus trains on one machine",
    ],
    [
      /^(monitors|log|run|output_dir|clean|resume|dry_run)\b|\.(monitors|log|heartbeat)\b/,
      "Gradus records every run in its own store",
    ],
    [
      /^trainer\.(model|gc|matmul|dist|memory|trace|enable|metrics)|seq_len|compile/,
      "Gradus splits the work to fit the memory by itself (`update.micro_tokens`, `rollout.lanes`)",
    ],
    [/\.(renderer|tokenizer)\b|^tokenizer\b/, "Gradus renders with the model's own chat template"],
    [/concurrency|tasks_per_minute|port|serve|client/, "configures prime-rl's orchestrator"],
    [/\.env\b/, "an environment is Python: write its tasks under `tasks` and its rewards as terms"],
    [/^orchestrator\.eval\b/, "see the `evaluation` block"],
  ],
  "no counterpart in Gradus",
);

export function convertPrimeRl(settings: Settings): ConfigDraft {
  const draft = new ConfigDraft();
  run(settings, draft);
  tasks(settings, draft);
  const group = settings.number(`${source}.group_size`) ?? settings.need(`${orchestrator}.group_size`);
  sampling(settings, draft, group);
  algorithm(settings, draft);
  update(settings, draft);
  return draft;
}

/** Of either of its two parts, where all of it says nothing. */
const shared = (settings: Settings, key: string): number | undefined =>
  settings.number(key) ?? settings.number(`trainer.${key}`) ?? settings.number(`${orchestrator}.${key}`);

function run(settings: Settings, draft: ConfigDraft): void {
  draft.set("name", settings.text("run.name"));
  draft.set("steps", shared(settings, "max_steps"));
  const key = settings.has("trainer.model.name") ? "trainer.model.name" : "model.name";
  const base = modelName(settings, key);
  const lora = settings.below("trainer.model.lora");
  const part = (name: string): number => settings.need(`trainer.model.lora.${name}`);
  draft.set("model", {
    base: base ?? "tiny",
    ...(lora === undefined
      ? {}
      : { adapter: { use: "lora", rank: part("rank"), alpha: part("alpha"), dropout: part("dropout") } }),
  });
  for (const [name, block] of [
    ["ckpt.interval", "checkpoint"],
    ["orchestrator.eval.interval", "evaluation"],
  ] as const) {
    const every = settings.has(name) ? settings.number(name) : undefined;
    if (every !== undefined && every > 0) draft.set(block, { every });
  }
  const stale = settings.need(`${orchestrator}.max_off_policy_steps`);
  if (stale > 0)
    settings.refuse(
      `${orchestrator}.max_off_policy_steps`,
      "Gradus generates with the weights that it trains: no rollout is older",
    );
  if (settings.has(`${orchestrator}.token_batch_size`))
    settings.refuse(`${orchestrator}.token_batch_size`, "Gradus counts prompts: write `rollout.prompts`");
}

/** An environment's tasks and rewards are its own code. */
function tasks(settings: Settings, draft: ConfigDraft): void {
  const id = settings.text(`${source}.env.taskset.id`);
  const own = id === "gradus_tasks";
  draft.set("tasks", [
    own
      ? { dataset: "train.jsonl", prompt: "{prompt}", answer: "{answer}" }
      : { dataset: "data.jsonl", prompt: "{prompt}", answer: "{answer}" },
  ]);
  draft.set("reward", { terms: { correct: { use: "exact_match" } } });
  settings.replaceReward(
    `${source}.env.taskset.id`,
    own
      ? "its rewards are those of the config that it was exported from: write `reward.terms`"
      : "an environment of verifiers: write its tasks as `tasks` and its rewards as `reward.terms`; these are placeholders",
    id ?? null,
  );
  if (settings.has(`${source}.others`))
    settings.refuse(`${source}.others`, "further environments: each is a task of its own in Gradus");
}

function sampling(settings: Settings, draft: ConfigDraft, group: number): void {
  const rollouts = settings.need(`${orchestrator}.batch_size`);
  const read = (key: string): Json | undefined =>
    settings.get(`${source}.sampling.${key}`) ?? settings.get(`${orchestrator}.train.sampling.${key}`);
  const number = (key: string): number | undefined => {
    const value = read(key);
    return typeof value === "number" ? value : undefined;
  };
  const off = {
    top_k: -1,
    min_p: 0,
    repetition_penalty: 1,
    presence_penalty: 0,
    frequency_penalty: 0,
    min_tokens: 0,
  };
  const extra = Object.entries(off).map(([key, none]): [string, Json | undefined] => {
    const value = number(`extra_body.${key}`);
    return [key, value === none ? undefined : value];
  });
  const longest = number("max_completion_tokens");
  if (longest === undefined)
    settings.refuse(
      `${orchestrator}.train.sampling.max_completion_tokens`,
      "prime-rl generates up to the model's context: write `rollout.max_tokens`",
      null,
    );
  draft.set("rollout", {
    prompts: Math.max(1, Math.floor(rollouts / group)),
    group,
    ...fields({ max_tokens: longest }),
    temperature: number("temperature") ?? 1,
    ...fields({ top_p: settings.number(`${source}.env.agent.sampling.top_p`), ...Object.fromEntries(extra) }),
  });
}

function update(settings: Settings, draft: ConfigDraft): void {
  const type = settings.text(`${optim}.type`) ?? "adamw";
  const norm = settings.get(`${optim}.max_norm`);
  const sgd = type === "sgd";
  if (!sgd && type !== "adamw")
    settings.refuse(`${optim}.type`, "Gradus has no such optimiser: adamw is used instead");
  const betas = ["betas1", "betas2"].map((name) => settings.need(`${optim}.${name}`));
  const kind = settings.text(`${scheduler}.type`) ?? "constant";
  const warmup = kind === "constant" ? 0 : settings.need(`${scheduler}.warmup_steps`);
  draft.set("update", {
    optimizer: {
      use: sgd ? "sgd" : "adamw",
      lr: settings.need(`${optim}.lr`),
      ...(sgd
        ? { momentum: settings.need(`${optim}.momentum`), nesterov: settings.flag(`${optim}.nesterov`) }
        : { betas }),
      weight_decay: settings.need(`${optim}.weight_decay`),
      ...(warmup > 0 ? { warmup } : {}),
      clip_norm: typeof norm === "number" ? norm : null,
      ...course(settings, kind, warmup),
    },
    epochs: 1,
  });
}

/** In the last step a line is at its end: it lasts a step less than what falls. */
function course(settings: Settings, kind: string, warmup: number): JsonObject {
  const floor = Number((settings.need(`${scheduler}.min_lr`) / settings.need(`${optim}.lr`)).toPrecision(12));
  const decay = settings.need(`${scheduler}.decay_steps`);
  const steps = shared(settings, "max_steps");
  if (kind === "constant") return {};
  if (floor > 0 && warmup > 0)
    settings.refuse(`${scheduler}.min_lr`, "in Gradus the warm-up begins at 0, and not at the floor");
  if (kind === "cosine") return { schedule: floor > 0 ? { shape: "cosine", floor } : "cosine" };
  if (decay < 2 || steps === undefined) return {};
  return { schedule: { schedule: "linear", from: 1, to: floor, over: decay - 1, start: steps - decay } };
}
