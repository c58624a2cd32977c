/** One step of trainers that generate nothing: examples of a file, in batches. */
import type { Quantity } from "../text/quantity.ts";
import type { DocumentModel } from "./model.ts";
import { processesOf } from "./processes.ts";
import { rewarded } from "../releases/programs/trl.ts";

interface SupervisedBatch {
  /** Of one optimiser step. */
  readonly examples: number | undefined;
  readonly processes: number | undefined;
  /** That one process takes through the model at once. */
  readonly micro: number | undefined;
  /** Sequences that an example is: two of a preference. */
  readonly sequences: number;
}

/** undefined for trainers that generate, and where nothing trains. */
export function supervisedBatch(model: DocumentModel): SupervisedBatch | undefined {
  const { framework, tree = "" } = model.document;
  switch (framework) {
    case "trl":
      return rewarded.includes(tree) ? undefined : ofTrl(model, tree);
    case "openrlhf":
      return tree.startsWith("train_ppo") ? undefined : ofOpenrlhf(model, tree);
    case "verl":
      return tree.startsWith("sft_trainer") ? ofVerl(model) : undefined;
  }
}

const times = (...factors: readonly (number | undefined)[]): number | undefined =>
  factors.reduce<number | undefined>((a, b) => (a === undefined || b === undefined ? undefined : a * b), 1);

function ofTrl(model: DocumentModel, tree: string): SupervisedBatch {
  const processes = processesOf(model, 1);
  const micro = model.number("per_device_train_batch_size");
  return {
    examples: times(micro, processes, model.number("gradient_accumulation_steps")),
    processes,
    micro,
    sequences: tree === "dpo" || tree === "reward" ? 2 : 1,
  };
}

function ofOpenrlhf(model: DocumentModel, tree: string): SupervisedBatch {
  const either = (now: string, before: string): number | undefined =>
    model.facts.has(now) ? model.number(now) : model.number(before);
  const written = model.document.processes?.value;
  return {
    examples: either("train.batch_size", "train_batch_size"),
    processes: typeof written === "number" ? written : undefined,
    micro: either("train.micro_batch_size", "micro_train_batch_size"),
    sequences: tree === "train_dpo" || tree === "train_rm" ? 2 : 1,
  };
}

const ofVerl = (model: DocumentModel): SupervisedBatch => ({
  examples: model.number("data.train_batch_size"),
  processes: times(model.number("trainer.nnodes"), model.number("trainer.n_gpus_per_node")),
  micro: model.number("data.micro_batch_size_per_gpu"),
  sequences: 1,
});

export function supervisedGeometry({ examples, processes, micro, sequences }: SupervisedBatch): Quantity[] {
  const each =
    examples === undefined || processes === undefined || processes === 0 ? undefined : examples / processes;
  const text = (value: number | undefined): string => String(value ?? "?");
  return [
    { name: "examples per optimiser step", value: examples, arithmetic: "over all processes" },
    {
      name: "sequences per optimiser step",
      value: times(examples, sequences),
      arithmetic: `${text(examples)} × ${sequences}`,
    },
    {
      name: "examples on each process",
      value: each,
      arithmetic: `${text(examples)} ÷ ${text(processes)} processes`,
    },
    {
      name: "micro-batches per optimiser step",
      value: each === undefined || micro === undefined || micro === 0 ? undefined : each / micro,
      arithmetic: `${text(each)} ÷ ${text(micro)}`,
    },
  ];
}
