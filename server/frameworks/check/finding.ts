/** What the checks of keys and values find. Their rules have pages like the others. */
import type { Severity } from "../../config/check/diagnostic.ts";
import type { ForeignFinding } from "../rule.ts";

export interface KeyRule {
  readonly id: string;
  readonly severity: Severity;
  readonly title: string;
  readonly why: string;
}

export type KeyFinding = ForeignFinding & { readonly rule: KeyRule };

export const unknownKey: KeyRule = {
  id: "foreign-unknown-key",
  severity: "error",
  title: "A key that the framework does not know",
  why: "Hydra refuses an override of a key that is not in its tree, argparse a flag it was not told of, and a Python data class an argument it has no field for. With `+` before it Hydra takes any key: where nothing reads it, the setting that was meant keeps its default.",
};
export const movedKey: KeyRule = {
  id: "foreign-moved-key",
  severity: "error",
  title: "A key that a later release renamed, moved or dropped",
  why: "Configurations outlive releases. The release that the file names, the one that is installed beside it or else the newest known decides which names hold.",
};
export const addedKey: KeyRule = {
  id: "foreign-added-key",
  severity: "error",
  title: "Hydra's `+`, where the key exists, or its absence, where it does not",
  why: "Hydra adds with `+key=`, changes with `key=`, and does either with `++key=`. It refuses to add what is there already with a value, and to change what is not there.",
};
export const wrongType: KeyRule = {
  id: "foreign-type",
  severity: "error",
  title: "A value of the wrong type",
  why: "Flags are converted by argparse, which refuses what it cannot convert. Values in Python and Hydra are taken as they are, and fail where they are first used.",
};
export const wrongValue: KeyRule = {
  id: "foreign-value",
  severity: "error",
  title: "A value that is none of those allowed",
  why: "Most names of estimators, losses and modes are compared where they are first used: after the models were loaded, often after the first generation.",
};
export const wrongCount: KeyRule = {
  id: "foreign-count",
  severity: "error",
  title: "A flag with more or fewer values than it takes",
  why: "OpenRLHF's flags and those of TRL's programs are read by argparse: a switch (`store_true`) takes no value, a list as many as its `nargs` says, everything else one. A word too many is left over, and `parse_args` and Transformers' `HfArgumentParser` refuse what is left over.",
};
export const duplicateKey: KeyRule = {
  id: "foreign-duplicate",
  severity: "warning",
  title: "A setting that a later one overrides",
  why: "Of two overrides or flags with one name the last one counts; nothing says so. Two equal keys of one map in a Hydra file, and two equal arguments of a Python call, are refused.",
};
export const unsetVariable: KeyRule = {
  id: "foreign-unset-variable",
  severity: "info",
  title: "A shell variable that the script never sets",
  why: "Unless the environment sets it, the shell puts nothing in its place, and the setting is empty.",
};
export const cutOff: KeyRule = {
  id: "foreign-cut-launch",
  severity: "error",
  title: "Settings that the command does not get",
  why: "A command goes on below a line only where a backslash is that line's last character. A blank behind it, a comment or an empty line below it, or a backslash that was forgotten ends the command there: the program starts with the settings above, and the shell takes every setting below for a command of its own.",
};
export const brokenYaml: KeyRule = {
  id: "foreign-syntax",
  severity: "error",
  title: "A file that is no YAML",
  why: "Hydra reads its files with OmegaConf and TRL with PyYAML: both refuse a file that does not parse, before anything of it is looked at. A file of a few lines whose aliases stand for millions of values parses, and fills the memory of whoever follows them.",
};
export const neighbourTable: KeyRule = {
  id: "foreign-release",
  severity: "info",
  title: "A release that is checked by its neighbour's table",
  why: "Keys, types and defaults are kept for chosen releases, and read from the sources of one that is installed. Of any other the nearest release that is kept stands in, so that a key that came or went between the two is judged as the neighbour has it. It is said where something else was found, for that may be why.\n\nInstall the release beside the file (`.venv`) or name its Python in `gradus.pythonPath`: then its own sources decide.",
};

export const keyRules: readonly KeyRule[] = [
  unknownKey,
  movedKey,
  addedKey,
  wrongType,
  wrongValue,
  wrongCount,
  duplicateKey,
  unsetVariable,
  cutOff,
  brokenYaml,
  neighbourTable,
];
