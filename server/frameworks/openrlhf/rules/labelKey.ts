import { textBeside } from "../files.ts";
import { openrlhfRule } from "../openrlhfRule.ts";

export const labelKey = openrlhfRule({
  id: "openrlhf-label-key",
  severity: "warning",
  title: "A reward function without answers to compare with",
  why: "Without `data.label_key` every prompt's label is an empty text (`preprocess_data` in openrlhf/datasets/prompts_dataset.py), so a reward that checks answers finds all of them wrong. Reported where the reward is a Python file: a warning where that file lies beside the script and reads its labels, an info where it cannot be seen.",
  check(flags) {
    const url = flags.text("reward.remote_url");
    if (url === undefined || !url.endsWith(".py") || !flags.lacks("data.label_key")) return [];
    const text = textBeside(flags, url);
    // Once among the parameters, and once more where it is read.
    if (text !== undefined && (text.match(/\blabels\b/g) ?? []).length < 2) return [];
    const message = `The reward is computed by \`${url}\`, and no \`${flags.name("data.label_key")}\` says which column holds the right answers: its labels are all empty.`;
    return [
      { message, ...flags.placed("reward.remote_url"), severity: text === undefined ? "info" : "warning" },
    ];
  },
});
