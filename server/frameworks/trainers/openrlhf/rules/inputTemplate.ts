import type { RuleDiagnostic } from "../../../rules/rule.ts";
import { openrlhfRule } from "../openrlhfRule.ts";

export const inputTemplate = openrlhfRule({
  id: "openrlhf-input-template",
  severity: "warning",
  title: "Prompt template not used",
  why: "Python's `format` fills in `data.input_template`: without `{}` openrlhf/cli/train_ppo_ray.py drops the template, with a line in the log. In plain quotes the shell leaves `\\n` as two letters; `$'…\\n…'` makes it a new line. With `data.apply_chat_template` the tokenizer's template replaces this one: `preprocess_data` in openrlhf/datasets/prompts_dataset.py.",
  check(flags) {
    const at = flags.written("data.input_template");
    const template = flags.text("data.input_template");
    if (at === undefined || template === undefined || template === "") return [];
    const reported = (message: string): RuleDiagnostic[] => [{ at, message }];
    if (flags.on("data.apply_chat_template"))
      return reported(
        `\`${flags.name("data.input_template")}\` is never read: \`${flags.name("data.apply_chat_template")}\` uses the tokenizer's own template.`,
      );
    if (!template.includes("{}"))
      return reported(
        `\`${flags.name("data.input_template")}\` has no \`{}\` for the prompt, so OpenRLHF drops it.`,
      );
    // `$'…'` makes a new line of them.
    if (template.includes("\\n") && !at.text.startsWith("$'"))
      return reported(
        `\`${flags.name("data.input_template")}\` holds the letters \`\\n\`, not a new line: write \`$'…\\n…'\`.`,
      );
    return [];
  },
});
