/** Recognises the framework of a text by keys that only one framework has. */
import type { Framework } from "../text/document.ts";
import { trlTreeOf } from "./recogniseTrl.ts";
import { trainers } from "../releases/programs/trl.ts";
import { ownTree, verlTreeOf } from "../releases/programs/verl.ts";
import { evidenceFor, evidentOwner, hasStranger, isVerlSection } from "./evidence.ts";

/** A text without any of these is not a configuration of the three: this rejects nearly every other file without parsing. */
const anySign =
  /actor_rollout_ref|main_ppo|ppo_(?:megatron_)?trainer|verl\.(?:trainer|experimental)|sft_trainer|(?:GRPO|RLOO|DPO|SFT|KTO|Reward|Distillation)Config|num_generations|reward_funcs|train_ppo|trl\s+\w|trl[./]scripts|(?:grpo|rloo|dpo|sft|kto)\w*\.py|max_completion_length|openrlhf|--(?:algo|rollout|actor)\.\w|algorithm[.:]|per_device_train_batch_size|dataset_name|model_name_or_path/i;

export const mayBeFrameworkConfig = (text: string): boolean => anySign.test(text);

export interface ConfigOwner {
  readonly framework: Framework;
  readonly tree?: string;
  /** Another project's program that reads it, named by its own section. */
  readonly reader?: string;
}

/** What a YAML file declares about itself. */
interface YamlSigns {
  /** Its dotted leaves. */
  readonly keys: readonly string[];
  /** Its keys at the top. */
  readonly tops: readonly string[];
  /** What its `defaults` name. */
  readonly defaults: readonly string[];
  /** Its name and its comments. */
  readonly hints: string;
}

/** The framework of a YAML file, and its tree of keys if known. evidence.ts defines how much is enough. */
export function ownerOfYaml({ keys, tops, defaults, hints }: YamlSigns): ConfigOwner | undefined {
  if (!tops.includes("actor_rollout_ref") && !keys.some((key) => /^algorithm\./.test(key))) {
    const tree = trlTreeOf(new Set(tops), hints);
    return tree === undefined ? undefined : { framework: "trl", tree };
  }
  if (hasStranger(tops)) return undefined;
  const strange = tops.find((top) => !isVerlSection(top));
  const extendsVerl = defaults.some((name) => ownTree.test(name));
  const { own, known } = evidenceFor("verl", keys);
  const evident = extendsVerl || (strange === undefined && own > 0 && known > 1);
  if (!tops.includes("actor_rollout_ref"))
    return evident && (own > 1 || extendsVerl) && strange === undefined ? { framework: "verl" } : undefined;
  // Sections that verl lacks belong to another project's program, which starts verl's trainer itself.
  if (!evident && own < 2) return undefined;
  return {
    framework: "verl",
    ...(tops.includes("async_training") ? { tree: "fully_async_ppo_trainer" } : {}),
    ...(strange === undefined ? {} : { reader: strange }),
  };
}

export interface LaunchProgram {
  readonly framework: Framework;
  /** Its name in messages. */
  readonly name: string;
  /** The index of its word; options of launchers come before it. */
  readonly at: number;
  /** The tree of keys that it reads, if that does not depend on its settings. */
  readonly tree?: string;
}

/** The text of a script that a command starts, if it is near the command's own file. */
export type ScriptLookup = (word: string) => string | undefined;

/** What a command trains with; undefined for every other command. */
export const programOf = (
  words: readonly string[],
  lookup: ScriptLookup = () => undefined,
): LaunchProgram | undefined =>
  verlProgram(words) ?? openrlhfProgram(words, lookup) ?? trlProgram(words, lookup);

/** Entry points of forks that kept the name of verl's package, and not its settings: EasyR1's. */
const ofFork = /^verl\.trainer\.main$/;

/**
 * verl's own by module or path. Of other modules and recipes, which start verl's trainer from an entry of their own, those
 * that are given two settings of verl's sections.
 */
function verlProgram(words: readonly string[]): LaunchProgram | undefined {
  const at = words.findLastIndex(
    (word, i) =>
      /(^|\/)(verl|recipe)\/\S+\.py$|(^|\/)main_ppo(_sync)?\.py$|^verl\.trainer\.main_ppo(_sync)?$/.test(
        word,
      ) ||
      (/^-{1,2}m(odule)?$/.test(words[i - 1] ?? "") && /^[\w.]+$/.test(word)),
  );
  if (at < 0) return undefined;
  const name = moduleName(words[at]!);
  const keys = keysOf(words);
  const known = verlTreeOf(name) !== undefined && (/^verl\./.test(name) || !words[at]!.includes("."));
  const { own } = evidenceFor("verl", keys);
  const isForeign = ofFork.test(name) || hasStranger(keys);
  const started = known || (!isForeign && own > (/^(verl|recipe)\./.test(name) ? 0 : 1));
  return started ? { framework: "verl", name, at } : undefined;
}

/** The names of a command's flags and overrides. */
const keysOf = (words: readonly string[]): string[] =>
  words.flatMap((word) => {
    const [, flag, override] = /^(?:--([A-Za-z][\w.-]*)|[+~]{0,2}([A-Za-z_][\w.]*)=)/.exec(word) ?? [];
    return flag?.replaceAll("-", "_") ?? override ?? [];
  });

/** OpenRLHF's, by module or path: other programs are called `train_ppo.py` too. */
function openrlhfProgram(words: readonly string[], lookup: ScriptLookup): LaunchProgram | undefined {
  const at = words.findLastIndex((word) =>
    /^openrlhf[\w.]*\.train_\w+$|(^|\/)train_(ppo\w*|sft|dpo|kto|rm|prm|kd)\.py$/.test(word),
  );
  if (at < 0) return undefined;
  const word = words[at]!;
  const own = /^openrlhf\.|(^|\/)openrlhf\/\S*train_\w+\.py$/.test(word);
  if (!own && !isAnothers(word, words.slice(at + 1), lookup, "openrlhf")) return undefined;
  const name = moduleName(word);
  const program = /train_\w+/.exec(name)?.[0] ?? "";
  return { framework: "openrlhf", name, at, tree: /^train_ppo/.test(program) ? "train_ppo_ray" : program };
}

/**
 * The user's own script: recognised by its imports if it can be read, else by its flags. What it imports must
 * be there to be known by; its flags may still be its own, so they must be the framework's as well.
 */
function isAnothers(
  script: string,
  words: readonly string[],
  lookup: ScriptLookup,
  framework: "trl" | "openrlhf",
): boolean {
  const text = lookup(script);
  if (text !== undefined && !new RegExp(`^\\s*(from|import)\\s+${framework}\\b`, "m").test(text))
    return false;
  // Overrides (`policy.lr=1`) are for Hydra and its like: neither of the two reads any.
  if (words.some((word) => /^[+~]{0,2}[A-Za-z_]\w*(\.\w+)+=/.test(word))) return false;
  const keys = keysOf(words);
  if (text !== undefined && /\b(TrlParser|HfArgumentParser)\b/.test(text)) return !hasStranger(keys);
  return evidentOwner(keys, "script") === framework;
}

/** `trl dpo`, its script, or a user's script that is named after a trainer and uses TRL. */
function trlProgram(words: readonly string[], lookup: ScriptLookup): LaunchProgram | undefined {
  const names = trainers.map(({ name }) => name);
  const own = words.findIndex((word, i) => /(^|\/)trl$/.test(word) && names.includes(words[i + 1] ?? ""));
  if (own >= 0)
    return { framework: "trl", name: `trl ${words[own + 1]!}`, at: own + 1, tree: words[own + 1]! };
  for (const tree of names) {
    const at = words.findLastIndex((word) => new RegExp(`\\btrl[./]scripts[./]${tree}\\b`).test(word));
    if (at >= 0) return { framework: "trl", name: words[at]!, at, tree };
  }
  for (const tree of names.filter((name) => name !== "reward")) {
    const called = new RegExp(tree === "grpo" ? "grpo\\w*\\.py$" : `(^|[/_])${tree}\\w*\\.py$`);
    const at = words.findLastIndex((word) => called.test(word));
    if (at >= 0 && isAnothers(words[at]!, words.slice(at + 1), lookup, "trl"))
      return { framework: "trl", name: words[at]!, at, tree };
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

/** verl's own program, with the settings of its trees. */
export const isVerlTrainer = (program: string | undefined): boolean =>
  program === undefined || /^(verl\.trainer\.)?main_ppo(_sync)?$/.test(program.replace(/\.py$/, ""));

/** Whether a word holds a whole command, as for `bash -c`, `srun` and `ssh`. */
export const holdsCommand = (word: string): boolean =>
  /\s/.test(word) && /main_ppo|train_ppo|\btrl\s+\w|grpo\w*\.py|openrlhf\.cli|verl\.trainer/.test(word);
