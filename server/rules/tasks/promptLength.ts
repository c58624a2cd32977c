import { formatCount, formatFraction } from "../../../shared/lib/format.ts";
import { firstTime, reportAt, type Rule } from "../rule.ts";

const consequence = {
  filter: "which are left out",
  left_truncate: "whose beginnings are cut off",
  error: "so the run stops when it reads the data",
} as const;

const isAction = (value: unknown): value is keyof typeof consequence =>
  typeof value === "string" && Object.hasOwn(consequence, value);

/** How many prompts a limit concerns, before the run finds out. */
export const promptLength: Rule = {
  id: "prompt-length",
  title: "Prompts longer than max_prompt",
  why: "`max_prompt` bounds the tokens of a prompt, and `overlong` says what happens to longer ones: they are left out, lose their beginning, or stop the run. The prompts of a dataset are counted here with the model's own tokenizer, if the model is on this disk, without what a chat template adds.\n\nRaise `max_prompt`, or accept what is said. Data of more than 64 MiB are not read while a config is checked.",
  check(model) {
    const fresh = firstTime();
    for (const view of model.stages)
      for (const [index, task] of view.config.body.tasks.entries()) {
        if (!fresh(task.source)) continue;
        const lengths = model.facts?.promptLengths(model.config, task);
        if (lengths === undefined || lengths.over === 0) continue;
        const { overlong, max_prompt: limit } = task.source.params;
        const action = isAction(overlong) ? overlong : "filter";
        const path = ["tasks", String(index)];
        reportAt(model, view, promptLength, [[...path, "max_prompt"], path], {
          severity: action === "error" ? "error" : lengths.over * 2 > lengths.rows ? "warning" : "info",
          message: `${formatFraction(lengths.over / lengths.rows)} of the prompts of \`${task.name}\` (${formatCount(lengths.over)} of ${formatCount(lengths.rows)}) exceed \`max_prompt: ${String(limit)}\`, ${consequence[action]}; the longest has ${lengths.longest} tokens.`,
        });
      }
  },
};
