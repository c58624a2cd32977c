import { openrlhfRule } from "../../openrlhfRule.ts";

export const promptBudget = openrlhfRule({
  id: "openrlhf-prompt-budget",
  severity: "warning",
  title: "No room for the prompt",
  why: "Since OpenRLHF 0.9.8 `data.max_len` bounds prompt and answer together, and `rollout.max_new_tokens` the answer; what is left is the prompt's, and longer prompts lose their beginning, with a line in the log (openrlhf/utils/agent.py). Where nothing is left, answers are cut instead.",
  check(flags) {
    const [whole, answer] = [flags.number("data.max_len"), flags.number("rollout.max_new_tokens")];
    if (whole === undefined || answer === undefined || answer < whole || !flags.model.since("0.9.8"))
      return [];
    const message = `\`${flags.name("data.max_len")}\` is ${whole} for prompt and answer together, and \`${flags.name("rollout.max_new_tokens")}\` ${answer}: ${whole} − ${answer} leaves ${whole - answer} tokens for the prompt.`;
    return [{ message, ...flags.placed("rollout.max_new_tokens", "data.max_len") }];
  },
});
