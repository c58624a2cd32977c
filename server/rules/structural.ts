/** Findings that reading a config makes before any rule is asked: their pages. */
import type { RulePage } from "./rule.ts";

export const structural: readonly RulePage[] = [
  {
    id: "syntax",
    title: "Text that is not YAML",
    why: "The text cannot be read from here on: a bracket or quote is not closed, a tab stands in the indentation, a key is written twice, a space is missing behind a colon. An unclosed bracket is reported where it opens. Nothing else is checked until the text can be read.",
  },
  {
    id: "unknown-key",
    title: "Key that nobody reads",
    why: "The keys of a config are a closed set, so that a misspelt one cannot be taken for a choice. The message names the nearest key, or the block in which the key exists. Parameters belong to the method that `use` names: the key may be another method's.",
  },
  {
    id: "unknown-value",
    title: "Word that is none of those allowed",
    why: "The value is one of a few words, or the name of a method of its slot. `gradus methods SLOT` lists a slot's methods.\n\nWhere a method is unknown its parameters are not complained about: they may be right.",
  },
  {
    id: "unknown-name",
    title: "Override of something that is not there",
    why: "A map over a list of named things (`tasks`, `stages`) changes the one of that name. There is none here: the name is misspelt, or the one it meant has been removed or renamed below.",
  },
  {
    id: "type",
    title: "Value of another kind, or out of its range",
    why: 'Every parameter declares what it takes and within which bounds; [the method\'s page](../methods/README.md) lists them. YAML reads `1e-5` as text in some versions and `"8"` always: write numbers as `1.0e-5` and without quotes.',
  },
  {
    id: "value",
    title: "Values that do not go together",
    why: "Each value is allowed by itself. The method that they are for refuses this combination, and says why.",
  },
  {
    id: "missing-key",
    title: "Key without which nothing can be done",
    why: "The value has no default, because no choice would be right for everybody.",
  },
  {
    id: "not-yet",
    title: "Block that this version cannot run",
    why: "The block is a part of the config's form, but this version has no method for it. A run would have to ignore it, so it refuses instead. The same is said of a whole file that is another framework's: `gradus convert` makes a config of it.",
  },
  {
    id: "extends",
    title: "Parent that cannot be read",
    why: "`extends` names a preset, or a file relative to the one that writes it. It may be missing, or hold an error of its own, which is then shown with its place. `gradus presets` lists the presets.",
  },
  {
    id: "extends-cycle",
    title: "Config that extends itself",
    why: "A parent, directly or through its own parents, extends the file again: there would be no first one to begin with.",
  },
  {
    id: "unknown-arm",
    title: "Condition on an arm that is not there",
    why: "The arms of a stage are `<task>/<value>` for each value that its tasks have for `curriculum.arms`, or the task's name where it has none. A condition on another arm's metric never has a value.",
  },
];
