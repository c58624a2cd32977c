/** The rules that check keys and values. They have pages like the others. */
import type { Severity } from "../../config/check/diagnostic.ts";
import type { RuleDiagnostic } from "../rules/rule.ts";

interface KeyRule {
  readonly id: string;
  readonly severity: Severity;
  readonly title: string;
  readonly why: string;
}

export type KeyDiagnostic = RuleDiagnostic & { readonly rule: KeyRule };

export const unknownKey: KeyRule = {
  id: "foreign-unknown-key",
  severity: "error",
  title: "Unknown key",
  why: "Hydra refuses to override a key that is not in its tree. Argparse refuses a flag that no parser declares, and a Python data class an argument without a field. After `+` Hydra takes any key: if nothing reads it, the setting that was meant keeps its default.",
};
export const movedKey: KeyRule = {
  id: "foreign-moved-key",
  severity: "error",
  title: "Renamed, moved or removed key",
  why: "Configurations outlive releases. Names are checked against the release that the file names, else the one installed next to it, else the newest known.",
};
export const addedKey: KeyRule = {
  id: "foreign-added-key",
  severity: "error",
  title: "Wrong use of Hydra's `+`",
  why: "Hydra adds with `+key=`, changes with `key=`, and does either with `++key=`. It refuses to add a key that already has a value, and to change a key that does not exist.",
};
export const wrongType: KeyRule = {
  id: "foreign-type",
  severity: "error",
  title: "Wrong type",
  why: "Argparse converts the values of flags and refuses what it cannot convert. Python and Hydra take values as they are, which then fail where they are first used.",
};
export const wrongValue: KeyRule = {
  id: "foreign-value",
  severity: "error",
  title: "Value not allowed",
  why: "Most names of estimators, losses and modes are compared where they are first used: after the models are loaded, often after the first generation.",
};
export const wrongCount: KeyRule = {
  id: "foreign-count",
  severity: "error",
  title: "Wrong number of values for a flag",
  why: "Argparse reads the flags of OpenRLHF and of TRL's programs: a switch (`store_true`) takes no value, a list as many as its `nargs` says, everything else one. `parse_args` and Transformers' `HfArgumentParser` refuse a word too many.",
};
export const duplicateKey: KeyRule = {
  id: "foreign-duplicate",
  severity: "warning",
  title: "Duplicate setting",
  why: "The last of two overrides or flags with one name wins, silently. A Hydra file refuses two equal keys in one map, and Python two equal arguments of one call.",
};
export const unsetVariable: KeyRule = {
  id: "foreign-unset-variable",
  severity: "info",
  title: "Unset shell variable",
  why: "Unless the environment sets the variable, the shell replaces it by nothing, and the setting is empty.",
};
export const cutOff: KeyRule = {
  id: "foreign-cut-launch",
  severity: "error",
  title: "Settings cut off from the command",
  why: "A command continues on the next line only if a backslash is the last character of its line. A missing backslash, a blank after it, or a comment or an empty line below it ends the command, and so does a carriage return, the other half of Windows' line ends, in bash. The program then starts with the settings above, and the shell runs every setting below as a command of its own.",
};
export const brokenYaml: KeyRule = {
  id: "foreign-syntax",
  severity: "error",
  title: "Invalid YAML or Python",
  why: "Hydra reads its files with OmegaConf and TRL with PyYAML: both refuse a file that does not parse before they read any of it. A file of a few lines whose aliases expand to millions of values parses, and then fills the memory of the program that expands them. Of a Python file Gradus reports what a reading without Python shows: brackets and strings that are not closed, a missing colon or block, wrong indentation, values that nothing connects.",
};
export const neighbourTable: KeyRule = {
  id: "foreign-release",
  severity: "info",
  title: "Checked against a neighbouring release",
  why: "Gradus keeps the keys, types and defaults of chosen releases, and reads those of an installed release from its sources. Any other release is checked against the nearest one that is kept, so a key that was added or removed between the two may get a wrong diagnostic. This note appears only with other diagnostics, which it may explain.\n\nInstall the release next to the file (`.venv`) or name its Python in `gradus.pythonPath`: then its own sources are used.",
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
