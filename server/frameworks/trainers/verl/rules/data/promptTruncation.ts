import { setTo } from "../../fixes.ts";
import { found, size, verlRule } from "../../rule.ts";

const [truncation, filter, longest] = [
  "data.truncation",
  "data.filter_overlong_prompts",
  "data.max_prompt_length",
];

export const promptTruncation = verlRule({
  id: "verl-prompt-truncation",
  title: "`data.truncation` never read",
  why: "`RLHFDataset` (verl/utils/dataset/rl_dataset.py) stores `truncation` and, since 0.7, never uses it. The agent loop tokenises prompts, and `AgentLoopBase` (verl/experimental/agent_loop/agent_loop.py) cuts a longer one on its left, with a line in the log. Only `filter_overlong_prompts` removes long prompts.",
  severity: "warning",
  since: "0.8.0",
  check(model) {
    const mode = model.text(truncation);
    if (mode === undefined || model.flag(filter) !== false) return [];
    // verl does this in any case.
    if (mode === "left") return [];
    const tokens = size(model, longest);
    const wish =
      mode === "error"
        ? "being refused"
        : `being cut ${mode === "middle" ? "in the middle" : `at the ${mode}`}`;
    const message = `verl ${model.document.version.text} never reads \`truncation\`, so a prompt of more than ${tokens ?? "the allowed"} tokens loses its beginning instead of ${wish}: use \`${filter}\` to remove such prompts.`;
    return found(model, [truncation], message, { fixes: [setTo(model, filter, true)] });
  },
});
