import { openrlhfRule } from "../../openrlhfRule.ts";

const lists = ["data.prompt_probs", "data.prompt_dataset"];

export const promptMixture = openrlhfRule({
  id: "openrlhf-prompt-mixture",
  title: "Wrong number of dataset probabilities",
  why: "`data.prompt_probs` and `data.prompt_dataset` are comma-separated lists of equal length: `blending_datasets` in openrlhf/datasets/utils.py asserts it, without a message, after the models are loaded. The probabilities add up to 1.",
  check(flags) {
    const [chances, names] = [flags.text("data.prompt_probs"), flags.text("data.prompt_dataset")];
    if (chances === undefined || names === undefined) return [];
    const [shares, sets] = [chances.split(","), names.split(",")];
    if (shares.length !== sets.length) {
      const message = `\`${flags.name("data.prompt_probs")}\` has ${shares.length} probabilities for ${sets.length} datasets: OpenRLHF needs one for each.`;
      return flags.diagnostic(lists, message);
    }
    const sum = shares.map(Number).reduce((a, b) => a + b, 0);
    if (!Number.isFinite(sum) || Math.abs(sum - 1) < 1e-3) return [];
    const message = `\`${flags.name("data.prompt_probs")}\` adds up to ${Number(sum.toPrecision(6))}, but numpy draws with them and needs a sum of 1.`;
    return flags.diagnostic(lists, message);
  },
});
