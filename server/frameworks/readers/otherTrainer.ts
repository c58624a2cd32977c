/** Trainers whose configurations are not checked here: by keys at the top of a YAML file that say whose it is, and by what a script or notebook starts. */
import { extname } from "node:path";
import { isMap, isScalar, parseDocument } from "yaml";
import { UserError } from "../../../shared/lib/errors.ts";
import { trainers, type TrainerId } from "../../../shared/run/trainers.ts";
import { isNotebook } from "../../lib/notebook/notebook.ts";
import { isPrimeRl, tomlOf } from "./primeRl.ts";

export interface OtherTrainer {
  readonly name: string;
  /** `gradus convert` reads it. */
  readonly converts: boolean;
  readonly form: "configuration" | "notebook";
}

interface Signs {
  readonly id: TrainerId;
  /** A YAML file is this one's if each of the lists has a key in it at the top. */
  readonly keys?: readonly (readonly string[])[];
  /** What a command line that starts it holds. */
  readonly entry?: RegExp;
  /** The package that a program of its own imports. */
  readonly module?: RegExp;
}

const others: readonly Signs[] = [
  {
    id: "nemo-rl",
    keys: [
      ["policy"],
      ["grpo", "dpo", "sft", "rm", "distillation", "loss_fn"],
      ["loss_fn", "env", "cluster", "data"],
    ],
    entry:
      /\bnemo_rl\/\S+\.py\b|\brun_(?:\w+_)?(?:grpo|dpo|sft|rm|distillation)\w*\.py\b.*(?:\bnemo|\s(?:policy|cluster|grpo|dpo|loss_fn)\.\w)/i,
    module: /nemo_rl/,
  },
  {
    id: "llama-factory",
    keys: [["finetuning_type"]],
    entry:
      /(?:^|[\s/])(?:llamafactory-cli|lmf)\s+(?:train|export|eval)\b|-m\s+llamafactory\b|\bllamafactory\/\S+\.py\b|\.py\b.*\s--finetuning_type\b/,
    module: /llamafactory/,
  },
  {
    id: "ms-swift",
    keys: [["rlhf_type", "train_type"]],
    entry:
      /(?:^|[\s/])(?:swift|megatron)\s+(?:rlhf|sft|pt|rollout|infer|export|sample)\b|\bswift[./](?:cli|llm)[./]\w+|\.py\b.*\s--rlhf_type\b/,
    module: /swift\.(?:llm|trainers|rlhf_trainers|arguments|pipelines|megatron)/,
  },
  {
    id: "axolotl",
    keys: [["base_model"], ["rl", "datasets", "adapter", "sequence_len"]],
    entry: /(?:^|[\s/])axolotl\s+(?:train|preprocess|fetch|merge|inference)\b|\baxolotl\.cli\.\w+/,
    module: /axolotl/,
  },
  {
    id: "areal",
    keys: [["allocation_mode", "gconfig"]],
    entry: /-m\s+areal\.\S+|\bareal\/launcher\/\w+\.py\b|\s(?:\+?allocation_mode|gconfig\.\w+)=/,
    module: /areal/,
  },
  {
    id: "roll",
    keys: [["actor_train", "actor_infer"]],
    entry: /\bstart_\w+_pipeline\.py\b/,
    module: /roll\.(?:pipeline|distributed|configs)/,
  },
  {
    id: "skyrl",
    keys: [["generator"], ["trainer"]],
    entry: /\bskyrl\w*(?:\.\w+)*\.entrypoints\.\w+|-m\s+skyrl\w*\.\S+/,
    module: /skyrl(?:_train|_agent|_gym)?/,
  },
  {
    id: "open-instruct",
    keys: [["dataset_mixer", "dataset_mixer_list"]],
    entry: /\bopen_instruct[./]\w+/,
    module: /open_instruct/,
  },
  {
    id: "easyr1",
    keys: [["worker"], ["algorithm"], ["trainer"]],
    entry: /-m\s+verl\.trainer\.main(?=\s|$)|\bverl\/trainer\/main\.py\b/,
  },
  {
    id: "slime",
    entry: /\btrain(?:_async)?\.py\b.*\s--(?:hf-checkpoint|rollout-batch-size|num-rollout)\b/,
    module: /(?:slime|miles)\.(?:rollout|utils|backends|ray)/,
  },
  {
    id: "prime-rl",
    entry: /(?:^|\s)(?:rl|sft|orchestrator|trainer|inference)\s+@\s*\S+\.toml\b|\bprime_rl\.\w+/,
    module: /prime_rl/,
  },
  { id: "torchtune", entry: /(?:^|\s)tune\s+run\b/, module: /torchtune/ },
  { id: "trinity-rft", entry: /(?:^|\s)trinity\s+run\b/, module: /trinity\.(?:common|cli|trainer)/ },
];

/**
 * The trainer that a file configures or starts; undefined where it shows none of those above. It is asked of files that the
 * readers of verl, TRL and OpenRLHF leave alone.
 */
export function otherTrainer(file: string, text: string): OtherTrainer | undefined {
  const found = signsOf(file, text);
  if (found === undefined) return undefined;
  const form = isNotebook(file) ? "notebook" : "configuration";
  return {
    name: trainers[found.id].name,
    converts: "converted" in trainers[found.id] && form === "configuration",
    form,
  };
}

/** What Gradus does with it, to follow "It is a configuration of NAME, ". */
export const whatIsDone = ({ name, converts, form }: OtherTrainer): string => {
  if (form === "notebook" && inNotebooks.some(({ id }) => trainers[id].name === name))
    return "and starts no training that Gradus reads";
  return converts ? "which Gradus converts and does not check" : "which Gradus does not read";
};

/** What to do with it instead; `file` as the person would write it. */
export const instead = ({ converts }: OtherTrainer, file: string): string | undefined =>
  converts ? `Make a config of it: gradus convert ${file} > mine.gradus.yaml` : undefined;

function signsOf(file: string, text: string): Signs | undefined {
  switch (extname(file)) {
    case ".toml":
      return isPrimeRlToml(file, text) ? others.find(({ id }) => id === "prime-rl") : undefined;
    case ".ipynb":
      return notebookOf(text);
    case ".py":
      return programOf(text);
    case ".sh":
    case ".bash":
    case ".slurm":
    case ".sbatch":
      return launchOf(text);
    default:
      return ofKeys(text) ?? launchOf(text);
  }
}

/** Some key of these at a line's beginning: nearly every other text is passed without parsing. */
const anyKey = new RegExp(`^(?:${others.flatMap(({ keys = [] }) => keys[0] ?? []).join("|")})\\s*:`, "m");

function ofKeys(text: string): Signs | undefined {
  if (!anyKey.test(text)) return undefined;
  const { contents } = parseDocument(text, { logLevel: "silent", uniqueKeys: false });
  if (!isMap(contents)) return undefined;
  const tops = contents.items.map(({ key }) => (isScalar(key) ? String(key.value) : ""));
  // A config of Gradus, and one of verl that another project's program reads.
  if (["tasks", "extends", "actor_rollout_ref"].some((key) => tops.includes(key))) return undefined;
  return others.find(({ keys }) => keys?.every((some) => some.some((key) => tops.includes(key))) === true);
}

/** Of a command; generated text is longer. */
const longestLine = 10_000;

/** Of a script: its command lines, without comments, and with the words of the arrays and variables that it sets. */
function launchOf(text: string): Signs | undefined {
  const lines = text
    .replace(/^\s*#.*$/gm, "")
    .replace(/\\\r?\n/g, " ")
    .split("\n")
    .filter(({ length }) => length < longestLine);
  const words = (text.match(/(?:^|\s)--?[a-z][\w-]*/g) ?? []).join(" ");
  return others.find(
    ({ entry }) =>
      entry !== undefined &&
      // Options that a command is given by an array (`${ROLLOUT_ARGS[@]}`) stand elsewhere in the text.
      lines.some((line) => entry.test(/\$\{?\w*ARGS/.test(line) ? `${line} ${words}` : line)),
  );
}

/** A program, not a module that it imports. */
const programOf = (text: string): Signs | undefined =>
  /^if __name__ == /m.test(text) ? importing(text, /^[ \t]*/) : undefined;

const importing = (text: string, before: RegExp): Signs | undefined =>
  others.find(
    ({ module }) =>
      module !== undefined &&
      new RegExp(`${before.source}(?:from|import)\\s+(?:${module.source})(?![\\w])`, "m").test(text),
  );

/** Trainers that are read: a notebook that uses one, and in which no configuration of it was found, is named after it. */
const inNotebooks: readonly Signs[] = [
  { id: "unsloth", module: /unsloth/ },
  { id: "trl", module: /trl/ },
  { id: "verl", module: /verl/ },
  { id: "openrlhf", module: /openrlhf/ },
];

/** The lines of a notebook's cells are strings of JSON; in its module they are lines. */
function notebookOf(text: string): Signs | undefined {
  const line = /(?:^[ \t]*|["n])/;
  const own = inNotebooks.find(
    ({ module }) =>
      module !== undefined && new RegExp(`${line.source}(?:from|import) ${module.source}\\b`, "m").test(text),
  );
  return own === undefined ? importing(text, line) : { id: own.id };
}

function isPrimeRlToml(file: string, text: string): boolean {
  try {
    return isPrimeRl(tomlOf(file, text));
  } catch (error) {
    if (error instanceof UserError) return false;
    throw error;
  }
}
