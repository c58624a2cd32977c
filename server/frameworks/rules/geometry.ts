/** How many prompts, samples and optimiser steps one round of training has. */
import type { Quantity } from "../text/quantity.ts";
import type { DocumentModel } from "./model.ts";
import { processesOf } from "./processes.ts";
import { supervisedBatch, supervisedGeometry } from "./supervised.ts";

const product = (...factors: readonly (number | undefined)[]): number | undefined =>
  factors.reduce<number | undefined>((a, b) => (a === undefined || b === undefined ? undefined : a * b), 1);
const quotient = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined || b === 0 ? undefined : a / b;
const text = (value: number | undefined): string => (value === undefined ? "?" : String(round(value)));
const round = (value: number): number => Math.round(value * 100) / 100;
const times = (...factors: readonly (number | undefined)[]): string => factors.map(text).join(" × ");

const actor = "actor_rollout_ref.actor";
const rollout = "actor_rollout_ref.rollout";

/** Processes that hold a part of each batch of their own: the GPUs, less those that share one model. */
function verlDataParallel(model: DocumentModel): number | undefined {
  const gpus = product(model.number("trainer.nnodes"), model.number("trainer.n_gpus_per_node"));
  const megatron =
    model.text(`${actor}.strategy`) === "megatron" || model.document.tree === "ppo_megatron_trainer";
  const part = (name: string): number | undefined =>
    model.number(`${actor}.megatron.${name}_model_parallel_size`);
  const shared = megatron
    ? product(part("tensor"), part("pipeline"), model.number(`${actor}.megatron.context_parallel_size`))
    : (model.number(`${actor}.ulysses_sequence_parallel_size`) ?? 1);
  return quotient(gpus, shared);
}

function verl(model: DocumentModel): Quantity[] {
  const [prompts, n] = [model.number("data.train_batch_size"), model.number(`${rollout}.n`)];
  const mini = model.number(`${actor}.ppo_mini_batch_size`);
  const epochs = model.number(`${actor}.ppo_epochs`);
  const [steps, parallel] = [product(quotient(prompts, mini), epochs), verlDataParallel(model)];
  const each = quotient(product(mini, n), parallel);
  return [
    { name: "prompts per step", value: prompts, arithmetic: "`data.train_batch_size`" },
    { name: "samples per step", value: product(prompts, n), arithmetic: times(prompts, n) },
    {
      name: "optimiser steps",
      value: steps,
      arithmetic: `${text(prompts)} ÷ ${text(mini)} prompts × ${text(epochs)} epochs`,
    },
    { name: "samples per optimiser step", value: product(mini, n), arithmetic: times(mini, n) },
    {
      name: "of them on each of the data-parallel ranks",
      value: each,
      arithmetic: `${text(product(mini, n))} ÷ ${text(parallel)}`,
    },
    microBatches(model, each),
  ];
}

function microBatches(model: DocumentModel, each: number | undefined): Quantity {
  const name = "micro-batches per optimiser step";
  if (model.flag(`${actor}.use_dynamic_bsz`) === true) {
    const most = model.number(`${actor}.ppo_max_token_len_per_gpu`);
    return {
      name,
      value: undefined,
      arithmetic: `as many as needed with at most ${text(most)} tokens each`,
    };
  }
  const micro = model.number(`${actor}.ppo_micro_batch_size_per_gpu`);
  return { name, value: quotient(each, micro), arithmetic: `${text(each)} ÷ ${text(micro)}` };
}

function trl(model: DocumentModel): Quantity[] {
  const processes = processesOf(model, 1);
  const [batch, accumulated] = [
    model.number("per_device_train_batch_size"),
    model.number("gradient_accumulation_steps"),
  ];
  const group = model.number("num_generations");
  const whole = model.number("generation_batch_size");
  const turns =
    model.number("steps_per_generation") ??
    (whole === undefined ? accumulated : quotient(whole, product(batch, processes)));
  const samples = whole ?? product(batch, processes, turns);
  const iterations = model.number("num_iterations");
  const arithmetic =
    whole === undefined
      ? `${times(batch, processes, turns)}: batch × processes × steps per generation`
      : "`generation_batch_size`";
  return [
    { name: "completions per generation", value: samples, arithmetic },
    {
      name: "prompts per generation",
      value: quotient(samples, group),
      arithmetic: `${text(samples)} ÷ ${text(group)}`,
    },
    {
      name: "completions per optimiser step",
      value: product(batch, processes, accumulated),
      arithmetic: times(batch, processes, accumulated),
    },
    {
      name: "optimiser steps per generation",
      value: product(quotient(turns, accumulated), iterations),
      arithmetic: `${text(turns)} ÷ ${text(accumulated)} × ${text(iterations)} iterations`,
    },
    {
      name: "micro-batches per optimiser step",
      value: accumulated,
      arithmetic: "`gradient_accumulation_steps`",
    },
  ];
}

/** Under its present name, or the one that it had before 0.10.2. */
const either = (model: DocumentModel, now: string, before: string): number | undefined =>
  model.facts.has(now) ? model.number(now) : model.number(before);

function openrlhfDataParallel(model: DocumentModel): number | undefined {
  const gpus = product(
    either(model, "actor.num_nodes", "actor_num_nodes"),
    either(model, "actor.num_gpus_per_node", "actor_num_gpus_per_node"),
  );
  const shared = product(
    either(model, "ds.ring_attn_size", "ring_attn_size") ?? 1,
    either(model, "ds.tensor_parallel_size", "ds_tensor_parallel_size") ?? 1,
  );
  return quotient(gpus, shared);
}

function openrlhf(model: DocumentModel): Quantity[] {
  const prompts = either(model, "rollout.batch_size", "rollout_batch_size");
  const n = either(model, "rollout.n_samples_per_prompt", "n_samples_per_prompt");
  const batch = either(model, "train.batch_size", "train_batch_size");
  const micro = either(model, "train.micro_batch_size", "micro_train_batch_size");
  const epochs = either(model, "train.max_epochs", "max_epochs");
  const [samples, parallel] = [product(prompts, n), openrlhfDataParallel(model)];
  return [
    { name: "prompts per rollout", value: prompts, arithmetic: "the rollout's batch size" },
    { name: "samples per rollout", value: samples, arithmetic: times(prompts, n) },
    {
      name: "optimiser steps per rollout",
      value: product(quotient(samples, batch), epochs),
      arithmetic: `${text(samples)} ÷ ${text(batch)} × ${text(epochs)} epochs`,
    },
    {
      name: "micro-batches per optimiser step",
      value: quotient(batch, product(micro, parallel)),
      arithmetic: `${text(batch)} ÷ (${text(micro)} × ${text(parallel)} data-parallel ranks)`,
    },
  ];
}

export function geometryOf(model: DocumentModel): readonly Quantity[] {
  const { framework, tree = "" } = model.document;
  const supervised = supervisedBatch(model);
  if (supervised !== undefined) return supervisedGeometry(supervised);
  return framework === "verl" && !tree.includes("ppo") ? [] : { verl, trl, openrlhf }[framework](model);
}

/** Keys whose hover shows it. */
export const isBatchKey = (key: string): boolean =>
  /(^|[._])((gen|train|generation|rollout|ppo_mini|ppo_micro|micro_train|mini|micro)_?\w*batch_size\w*|n|num_generations|n_samples_per_prompt|batch_size|micro_batch_size|gradient_accumulation_steps|steps_per_generation|n_gpus_per_node|nnodes|num_nodes|num_gpus_per_node|ppo_epochs|num_iterations|max_epochs)$/.test(
    key,
  );

/** As lines of Markdown. */
export const geometryText = (model: DocumentModel): string =>
  geometryOf(model)
    .map(
      ({ name, value, arithmetic }) =>
        `- ${name}: ${value === undefined ? "?" : `**${text(value)}**`} (${arithmetic})`,
    )
    .join("\n");
