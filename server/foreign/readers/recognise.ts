/** Whose configuration a text is, told by keys that only one framework has. */
import type { Framework } from "../document.ts";
import { trlTreeOf } from "../trl/recognise.ts";
import { trainers } from "../trl/trainers.ts";
import { verlTreeOf } from "../verl/programs.ts";

/** A text without any of these is no configuration of the three: nearly every other file is told so without parsing. */
const anySign =
  /actor_rollout_ref|main_ppo|ppo_(?:megatron_)?trainer|verl\.(?:trainer|experimental)|sft_trainer|(?:GRPO|RLOO|DPO|SFT|KTO|Reward|Distillation)Config|num_generations|reward_funcs|train_ppo|trl\s+\w|trl[./]scripts|(?:grpo|rloo|dpo|sft|kto)\w*\.py|max_completion_length|openrlhf|--(?:algo|rollout|actor)\.\w|algorithm[.:]|per_device_train_batch_size|dataset_name|model_name_or_path/i;

export const mayBeForeign = (text: string): boolean => anySign.test(text);

export interface Owner {
  readonly framework: Framework;
  readonly tree?: string;
}

/** Of a YAML file's keys at the top, or of its dotted leaves: whose it is, and whose keys it has where that is known. */
export function ownerOfKeys(keys: readonly string[], hints: string): Owner | undefined {
  const tops = new Set(keys.map((key) => key.split(".")[0]!));
  if (tops.has("tasks") || tops.has("extends")) return undefined;
  if (tops.has("actor_rollout_ref"))
    return tops.has("async_training")
      ? { framework: "verl", tree: "fully_async_ppo_trainer" }
      : { framework: "verl" };
  if (
    tops.has("algorithm") &&
    keys.some((key) => /^algorithm\.(adv_estimator|kl_ctrl|use_kl_in_reward)/.test(key))
  )
    return { framework: "verl" };
  const tree = trlTreeOf(tops, hints);
  return tree === undefined ? undefined : { framework: "trl", tree };
}

export interface Program {
  readonly framework: Framework;
  /** As it is called in messages. */
  readonly name: string;
  /** Index of its word: options of launchers stand before it. */
  readonly at: number;
  /** Whose keys it reads, where that does not depend on its settings. */
  readonly tree?: string;
}

/** What a command trains with; undefined for every other command. */
export function programOf(words: readonly string[]): Program | undefined {
  const verl = words.findLastIndex(
    (word, i) =>
      /(^|\/)(verl|recipe)\/\S+\.py$|(^|\/)main_ppo(_sync)?\.py$|^verl\.trainer\.main_ppo(_sync)?$/.test(
        word,
      ) ||
      (/^-{1,2}m(odule)?$/.test(words[i - 1] ?? "") && /^[\w.]+$/.test(word)),
  );
  // verl has other programs, with settings of other kinds.
  const trains = words.some((word) => /^[+~]*(actor_rollout_ref|algorithm)\./.test(word));
  const known = verl >= 0 && verlTreeOf(moduleName(words[verl]!)) !== undefined;
  if (verl >= 0 && (known || trains || words[verl]!.includes("main_ppo")))
    return { framework: "verl", name: moduleName(words[verl]!), at: verl };
  return openrlhfProgram(words) ?? trlProgram(words);
}

/** OpenRLHF's, by module or path: other programs are called `train_sft.py` too. */
function openrlhfProgram(words: readonly string[]): Program | undefined {
  const at = words.findLastIndex((word) =>
    /^openrlhf[\w.]*\.train_\w+$|(^|\/)train_ppo\w*\.py$|(^|\/)openrlhf\/\S*train_\w+\.py$/.test(word),
  );
  if (at < 0) return undefined;
  const name = moduleName(words[at]!);
  const program = /train_\w+/.exec(name)?.[0] ?? "";
  return { framework: "openrlhf", name, at, tree: /^train_ppo/.test(program) ? "train_ppo_ray" : program };
}

/** `trl dpo`, its script, or a script that is named after a trainer and takes Transformers' flags. */
function trlProgram(words: readonly string[]): Program | undefined {
  const names = trainers.map(({ name }) => name);
  const own = words.findIndex((word, i) => /(^|\/)trl$/.test(word) && names.includes(words[i + 1] ?? ""));
  if (own >= 0)
    return { framework: "trl", name: `trl ${words[own + 1]!}`, at: own + 1, tree: words[own + 1]! };
  const flags = words.some((word) => /^--(model_name_or_path|dataset_name|config)\b/.test(word));
  for (const tree of names) {
    const script = words.findLastIndex(
      (word) =>
        new RegExp(`\\btrl[./]scripts[./]${tree}\\b`).test(word) ||
        ((tree === "grpo" || flags) &&
          tree !== "reward" &&
          new RegExp(`(^|[/_])${tree}\\w*\\.py$`).test(word)) ||
        (tree === "grpo" && /grpo\w*\.py$/.test(word)),
    );
    if (script >= 0) return { framework: "trl", name: words[script]!, at: script, tree };
  }
  return undefined;
}

const moduleName = (word: string): string =>
  word.includes("/")
    ? word
        .replace(/^.*?((verl|recipe|openrlhf)\/)/, "$1")
        .replace(/\.py$/, "")
        .replaceAll("/", ".")
    : word;

/** verl's own program, whose settings are those of its trees. */
export const isVerlTrainer = (program: string | undefined): boolean =>
  program === undefined || /^(verl\.trainer\.)?main_ppo(_sync)?$/.test(program.replace(/\.py$/, ""));

/** Whether a word holds a whole command: what `bash -c`, `srun` and `ssh` are given. */
export const holdsCommand = (word: string): boolean =>
  /\s/.test(word) && /main_ppo|train_ppo|\btrl\s+\w|grpo\w*\.py|openrlhf\.cli|verl\.trainer/.test(word);
