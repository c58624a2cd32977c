import { openrlhfRule } from "../../openrlhfRule.ts";

export const promptBudget = openrlhfRule({
  id: "openrlhf-prompt-budget",
  severity: "warning",
  title: "No tokens left for the prompt",
  why: "Since OpenRLHF 0.9.8 `data.max_len` bounds prompt and response together, and `rollout.max_new_tokens` the response. The prompt gets the rest: a longer one loses its beginning, with a line in the log (openrlhf/utils/agent.py). If nothing is left, responses are cut instead.",
  check(flags) {
    const [whole, answer] = [flags.number("data.max_len"), flags.number("rollout.max_new_tokens")];
    if (whole === undefined || answer === undefined || answer < whole || !flags.model.since("0.9.8"))
      return [];
    const message = `\`${flags.name("data.max_len")}\` is ${whole} for prompt and response together, and \`${flags.name("rollout.max_new_tokens")}\` is ${answer}: ${whole} − ${answer} leaves ${whole - answer} tokens for the prompt.`;
    return flags.diagnostic(["rollout.max_new_tokens", "data.max_len"], message);
  },
});
