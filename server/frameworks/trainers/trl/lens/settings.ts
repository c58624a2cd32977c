/** TRL 1.16 (`GRPOConfig`) → Gradus. TRL counts completions: batch sizes are of rollouts, not of prompts. */
import { plural } from "../../../../../shared/lib/format.ts";
import type { JsonObject } from "../../../../../shared/lib/json.ts";
import { ConfigDraft, fields } from "../../../lens/configDraft.ts";
import { rowsHave } from "../../../readers/dataFiles.ts";
import { dataNamed, modelName, named, otherSplit, stoodIn } from "../../../lens/paths.ts";
import { isObject } from "../../../text/values.ts";
import type { Settings } from "../../../lens/settings.ts";
import { readTrlAdvantage } from "./advantage.ts";
import { masks, objective } from "./algorithm.ts";
import { rewards } from "./reward.ts";

export function convertTrl(settings: Settings): ConfigDraft {
  const draft = new ConfigDraft();
  const batch = batches(settings, draft);
  run(settings, draft, batch);
  tasks(settings, draft);
  rewards(settings, draft);
  readTrlAdvantage(settings, draft);
  objective(settings, draft);
  draft.set("mask", masks(settings));
  update(settings, draft, batch);
  return draft;
}

export interface GenerationSizes {
  readonly generated: number;
  readonly group: number;
  readonly mini: number;
  /** The longest response. */
  readonly tokens: number;
}

function batches(settings: Settings, draft: ConfigDraft): GenerationSizes {
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
      `TRL refuses it: ${plural(generated, "completion")} are not a multiple of the group size ${group}`,
    );
  if (update > generated)
    settings.refuse(
      "gradient_accumulation_steps",
      "this optimiser step of TRL spans several generations; Gradus updates after each",
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
      repetition_penalty:
        settings.need("repetition_penalty") === 1 ? undefined : settings.need("repetition_penalty"),
    }),
  });
  return {
    generated: prompts * group,
    group,
    mini: Math.min(update, prompts * group),
    tokens: settings.need("max_completion_length"),
  };
}

export function run(
  settings: Settings,
  draft: ConfigDraft,
  { generated, mini, tokens }: GenerationSizes,
): void {
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
  const base = modelName(settings, "model_name_or_path");
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
  draft.set("model", {
    ...(base === undefined ? stoodIn(512, tokens) : { base }),
    ...adapter,
  });
  if (base === undefined)
    settings.refuse("model_name_or_path", "no model is named; `tiny` is a placeholder", null);
}

export function tasks(settings: Settings, draft: ConfigDraft): void {
  const key = settings.has("train_dataset") ? "train_dataset" : "dataset_name";
  const names = settings.list(key) ?? [];
  const part = { path: [settings.text("dataset_config"), otherSplit(settings.text("dataset_train_split"))] };
  const shuffle = settings.peek("shuffle_dataset") === false ? { shuffle: false } : {};
  settings.get("shuffle_dataset");
  if (names.length === 0) {
    settings.refuse("dataset_name", "no data is named: write `tasks`", null);
    draft.set("tasks", [{ dataset: "data.jsonl" }]);
    return;
  }
  const files = names.map((name) => dataNamed(settings, key, String(name), part));
  draft.set(
    "tasks",
    named(files.map((dataset) => ({ dataset, ...templates(settings, key, dataset), ...shuffle }))),
  );
}

/** Columns that hold a prompt, and those that hold what it is compared with, by how usual they are. */
const prompts = ["prompt", "question", "problem", "instruction"];
const answers = ["solution", "answer", "ground_truth", "label", "target", "expected_answer"];

/** TRL hands its rewards every column by its name; which of them is the answer only the names say. */
function templates(settings: Settings, key: string, dataset: string): JsonObject {
  const has = (field: string): boolean | undefined => rowsHave(settings.file, dataset, field);
  if (has("prompt") === undefined) return { prompt: "{prompt}", answer: `{${likelyAnswer(settings)}}` };
  const prompt = prompts.find((field) => has(field) === true) ?? "prompt";
  if (prompt !== "prompt")
    settings.refuse(key, `the rows have no \`prompt\`: \`${prompt}\` is taken for it`, dataset);
  const read = columnsRead(settings).filter((field) => has(field) === true);
  const answer =
    answers.find((field) => (read.length === 0 || read.includes(field)) && has(field) === true) ?? read[0];
  return { prompt: `{${prompt}}`, ...fields({ answer: answer === undefined ? undefined : `{${answer}}` }) };
}

/** Of rows that are not here: TRL calls no reward without the columns that it takes, so the rows have these. */
function likelyAnswer(settings: Settings): string {
  const read = columnsRead(settings);
  const usual = (columns: readonly string[]) => answers.find((field) => columns.includes(field));
  return usual(read) ?? read[0] ?? usual(settings.columns) ?? "solution";
}

/** Columns that the rewards take, without those that are prompts. */
const columnsRead = ({ rewards: own = [] }: Settings): readonly string[] =>
  own
    .flatMap((one) => (one.kind === "function" ? (one.columns ?? []) : []))
    .filter((field) => !prompts.includes(field));

export function update(settings: Settings, draft: ConfigDraft, { generated, mini }: GenerationSizes): void {
  const warmup = settings.need("warmup_steps");
  const ratio = settings.number("warmup_ratio") ?? (warmup > 0 && warmup < 1 ? warmup : 0);
  const most = settings.need("max_steps");
  if (ratio > 0 && most <= 0 && settings.peek("lr_scheduler_type") !== "constant")
    settings.refuse("warmup_ratio", "needs the number of steps: write `update.optimizer.warmup`", ratio);
  // Transformers' `constant` has no warm-up; `constant_with_warmup` does.
  const warms = settings.text("lr_scheduler_type") !== "constant";
  const steps = !warms ? 0 : ratio > 0 ? (most > 0 ? Math.ceil(ratio * most) : 0) : warmup;
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
      // Transformers does not clip at 0.
      clip_norm: settings.need("max_grad_norm") > 0 ? settings.need("max_grad_norm") : null,
      ...course(settings),
    },
    mini_batch: mini,
    epochs: settings.need("num_iterations"),
  });
}

/** As a share of the learning rate: `min_lr_rate`, or `min_lr` itself. A file's map comes as dotted keys. */
function floorOf(settings: Settings): number | undefined {
  const options = settings.get("lr_scheduler_kwargs");
  const of = (key: string): number | undefined => {
    const inside = isObject(options) ? options[key] : undefined;
    return typeof inside === "number" ? inside : settings.number(`lr_scheduler_kwargs.${key}`);
  };
  const [share, least] = [of("min_lr_rate"), of("min_lr")];
  return share ?? (least === undefined ? undefined : least / settings.need("learning_rate"));
}

function course(settings: Settings): JsonObject {
  const kind = settings.text("lr_scheduler_type") ?? "linear";
  const floor = floorOf(settings);
  switch (kind) {
    case "constant":
    case "constant_with_warmup":
      return {};
    case "linear":
    case "cosine":
    case "inverse_sqrt":
      return { schedule: kind };
    case "cosine_with_min_lr":
      return { schedule: { shape: "cosine", ...fields({ floor }) } };
    case "warmup_stable_decay":
      return { schedule: "wsd" };
    default:
      settings.refuse(
        "lr_scheduler_type",
        "Gradus has no such learning-rate schedule; the rate stays constant",
      );
      return {};
  }
}
