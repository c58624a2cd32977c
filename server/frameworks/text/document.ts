/** A configuration of verl, TRL or OpenRLHF as text: its framework, and every setting with its range. */
import type { TrainerThat } from "../../../shared/run/trainers.ts";
import type { Json } from "../../../shared/lib/json.ts";
import type { Range } from "../../lib/lines.ts";
import type { TextEdit } from "../../config/check/diagnostic.ts";

/** Trainers whose configurations are checked. */
export type Framework = TrainerThat<"checked">;

/** How it is written: Hydra or TRL YAML; `key=value` overrides or flags in a launch script; a Python call. */
export type Form = "yaml" | "script" | "python";

/** Hydra's `+key=`, `++key=` and `~key`. */
export type Sign = "" | "+" | "++" | "~";

export interface Setting {
  /** Dotted, under the name that was written: `actor_rollout_ref.rollout.n`, `num_generations`, `rollout.batch_size`. */
  readonly key: string;
  /** undefined if it cannot be known: an unset shell variable, a Python expression. */
  readonly value: Json | undefined;
  /** If the value cannot be known: its known part, with set variables substituted and the rest left as `$X`. */
  readonly partial?: Json;
  /** The value's source text, variables and quotes included. */
  readonly text: string;
  readonly keyRange: Range;
  /** Of the value as it was written; of the key where it has none (`--switch`). */
  readonly range: Range;
  /** The range of the value itself if that is elsewhere: the line that sets the shell variable, an anchor. */
  readonly source?: Range;
  readonly sign: Sign;
  /** How many words a flag was given; absent elsewhere, and where an unknown variable may hold several. */
  readonly words?: number;
  /** One of several that a single written value holds (`{a: 1, b: 2}` on a command line): `range` is all of it. */
  readonly shared?: true;
  /** Came in by a YAML merge (`<<: *base`): keys next to the merge win. */
  readonly inherited?: true;
}

/** A shell variable that is read and set nowhere in the script. */
export interface UnsetVariable {
  readonly name: string;
  readonly range: Range;
  /** A similar name that the script sets. */
  readonly meant?: string;
}

/** Why nothing or not all of a YAML file is read. */
export interface BrokenYaml {
  readonly kind: "syntax" | "aliases";
  readonly range: Range;
  readonly reason: string;
}

/** Settings that a script means for its command, and that the command does not get. */
export interface CutLaunch {
  /** A backslash is missing, a blank or a carriage return follows it, or a comment or an empty line is below it. */
  readonly cause: "missing" | "blank" | "comment" | "return";
  /** Where the command ends. */
  readonly range: Range;
  /** Absent: an edit of the text changes no line ends. */
  readonly edit?: TextEdit;
  /** How many settings follow, and the first of them. */
  readonly lost: number;
  readonly first: string;
  readonly place: Range;
}

export interface FrameworkRelease {
  readonly text: string;
  /** One that the file or its requirements name; the framework's own checkout around it; a package's; else the newest. */
  readonly from: "file" | "checkout" | "installed" | "newest";
  readonly table: string;
  /** The folder of the installed packages, or of the checkout. */
  readonly folder?: string;
  /** The release of Transformers that the file or its requirements name. */
  readonly transformers?: string;
}

export interface FrameworkDocument {
  readonly framework: Framework;
  readonly form: Form;
  readonly file: string;
  readonly text: string;
  /** In the order of the text; a later one of the same key wins. */
  readonly settings: readonly Setting[];
  /** What files set that this one builds on (`--config`, `defaults:`), by dotted key: this file's settings win. */
  readonly base: ReadonlyMap<string, Json>;
  /** What a script starts: `verl.trainer.main_ppo`, `trl grpo`. */
  readonly program: string | undefined;
  /** Which set of keys: verl's `ppo_megatron_trainer`, TRL's `grpo`, OpenRLHF's `train_ppo_ray`. */
  readonly tree: string | undefined;
  /** How many processes train on all machines, if a launcher sets it (`--num_processes`, `--nproc_per_node`, `--num_gpus`); its value is undefined where the number of machines is not known. */
  readonly processes: Setting | undefined;
  readonly unset: readonly UnsetVariable[];
  /** The release it is checked against; `table` is the nearest release with a table, most often the same. */
  readonly version: FrameworkRelease;
  readonly cut?: CutLaunch | undefined;
  /** Where a YAML file becomes invalid, and why. */
  readonly broken?: BrokenYaml | undefined;
  /** Keys in branches of the script that may or may not run. */
  readonly uncertain?: ReadonlySet<string>;
  /** A library that replaces the framework's classes by its own, with more arguments and other defaults. */
  readonly patched?: "unsloth" | undefined;
  /** A script that gets its settings from its command line: the file says none. */
  readonly commanded?: boolean;
  /** Whether parsing lost something: missing files, unset variables. Then defaults are not assumed. */
  readonly incomplete: boolean;
  /** The range for diagnostics about the whole file: its first command, call or key. */
  readonly head: Range;
}
