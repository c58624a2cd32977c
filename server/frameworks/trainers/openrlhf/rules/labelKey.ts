import { siblingText } from "../files.ts";
import { openrlhfRule } from "../openrlhfRule.ts";

export const labelKey = openrlhfRule({
  id: "openrlhf-label-key",
  severity: "warning",
  title: "Reward function without labels",
  why: "Without `data.label_key` every prompt's label is an empty text (`preprocess_data` in openrlhf/datasets/prompts_dataset.py), so a reward that checks answers finds all of them wrong. Gradus reports it where the reward is a Python file: as a warning if that file is next to the script and reads its labels, as an info if the file is not there.",
  check(flags) {
    const url = flags.text("reward.remote_url");
    if (url === undefined || !url.endsWith(".py") || !flags.lacks("data.label_key")) return [];
    const text = siblingText(flags, url);
    // Once among the parameters, and once where it is read.
    if (text !== undefined && (text.match(/\blabels\b/g) ?? []).length < 2) return [];
    const message = `\`${url}\` computes the reward, but \`${flags.name("data.label_key")}\` does not name the column of the right answers, so all labels are empty.`;
    return flags.diagnostic(["reward.remote_url"], message, {
      severity: text === undefined ? "info" : "warning",
    });
  },
});
