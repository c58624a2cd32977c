/** Diagnostics that reading a config makes before any rule is asked: their pages. */
import type { RulePage } from "./rule.ts";

export const structural: readonly RulePage[] = [
  {
    id: "syntax",
    title: "Text that is not YAML",
    why: "The text cannot be parsed from here on: a bracket or quote is not closed, a tab is in the indentation, a key appears twice, a space is missing after a colon. An unclosed bracket is reported where it opens. Nothing else is checked until the text parses.",
  },
  {
    id: "unknown-key",
    title: "Unknown key",
    why: "The keys of a config are a closed set, so a misspelt key is never silently ignored. The message names the nearest key, or the block that has the key. Parameters belong to the method that `use` names: the key may belong to another method.",
  },
  {
    id: "unknown-value",
    title: "Unknown value",
    why: "The value must be one of a few words, or the name of a method of its slot. `gradus methods SLOT` lists a slot's methods.\n\nIf a method is unknown, its parameters are not checked, because they may be right.",
  },
  {
    id: "unknown-name",
    title: "Override of a missing entry",
    why: "A map over a list of named things (`tasks`, `stages`) changes the entry of that name. There is no such entry here: the name is misspelt, or the entry has been removed or renamed.",
  },
  {
    id: "type",
    title: "Value of the wrong type or out of range",
    why: 'Every parameter declares its type and its bounds; [the method\'s page](../methods/README.md) lists them. Some versions of YAML read `1e-5` as text, and every version reads `"8"` as text: write numbers as `1.0e-5` and without quotes.',
  },
  {
    id: "value",
    title: "Values that do not go together",
    why: "Each value is allowed by itself, but the method that they belong to refuses this combination and says why.",
  },
  {
    id: "missing-key",
    title: "Missing key",
    why: "The key has no default, because no value would be right for everyone.",
  },
  {
    id: "not-yet",
    title: "Block that this version cannot run",
    why: "The block is part of the config format, but this version has no method for it. A run would have to ignore it, so it refuses to start instead. The same applies to a whole file of another framework: `gradus convert` turns it into a config.",
  },
  {
    id: "extends",
    title: "Parent config that cannot be read",
    why: "`extends` names a preset, or a file relative to the one that contains it. It may be missing, or have an error of its own, which is then shown with its location. `gradus presets` lists the presets.",
  },
  {
    id: "extends-cycle",
    title: "Config that extends itself",
    why: "A parent, directly or through its own parents, extends the file again, so there is no first config to begin with.",
  },
  {
    id: "unknown-arm",
    title: "Condition on a missing arm",
    why: "The arms of a stage are `<task>/<value>` for each value that its tasks have for `curriculum.arms`, or the task's name where it has none. A condition on another arm's metric never has a value.",
  },
];
