import type { TaskConfig } from "../resolved.ts";
import { environmentOf } from "./environments.ts";
import { mine, pathIn, placeOf, underneath, type Rule } from "./rule.ts";

/** A tiny model reads one token per character, unless it learns a vocabulary. */
export function longestPrompt(task: TaskConfig): number {
  const { max_prompt: most } = task.source.params;
  if (typeof most === "number") return most;
  const environment = environmentOf(task);
  return environment.kind === "made" ? environment.longestPrompt : 0;
}

export const contextLength: Rule = {
  id: "context-length",
  title: "Prompt and response do not fit the model's context",
  why: "A tiny model reads one character a token and has a context of `model.context` tokens. A prompt and a response that are longer together are cut off by the end of the context, not by `max_tokens`, so the longest tasks can never be answered.\n\nShorten `rollout.max_tokens`, or enlarge `model.context`.",
  check({ config, stages, file, root, report, edits }) {
    const { context } = config.model.size;
    if (config.model.base !== "tiny" || config.model.tokenizer?.use === "bpe") return;
    for (const view of stages) {
      const { tasks, rollout } = view.config.body;
      const longest = tasks
        .map((task) => ({ name: task.name, length: longestPrompt(task) }))
        .sort((a, b) => b.length - a.length)[0];
      const prompt = (longest?.length ?? 0) + rollout.prefix.length;
      if (prompt + rollout.max_tokens <= context) continue;
      const at =
        mine(
          file,
          placeOf(view.body, "rollout", "max_tokens"),
          placeOf(view.body, "rollout", "prefix"),
          placeOf(root, "model", "context"),
          placeOf(view.body, "tasks"),
        ) ?? root.origin;
      const most = context - prompt;
      const message = `A prompt of \`${longest?.name ?? "the tasks"}\` (${prompt} tokens) and a response of ${rollout.max_tokens} are ${prompt + rollout.max_tokens} tokens, longer than the model's context of ${context}: set \`rollout.max_tokens\` to ${Math.max(most, 1)} or less, or \`model.context\` to at least ${prompt + rollout.max_tokens}.`;
      const path = pathIn(view, placeOf(view.body, "rollout", "max_tokens"), "rollout", "max_tokens");
      const whole = prompt + rollout.max_tokens;
      report({
        rule: contextLength.id,
        message,
        key: underneath(view, at, "rollout.max_tokens"),
        at,
        mends: [
          most < 1
            ? undefined
            : edits.set(
                path,
                String(most),
                `Change \`rollout.max_tokens\` to ${most} (= ${context} of the context − ${prompt} of the prompt)`,
              ),
          edits.set(
            ["model", "context"],
            String(whole),
            `Change \`model.context\` to ${whole} (= ${prompt} of the prompt + ${rollout.max_tokens})`,
            most < 1,
          ),
        ],
      });
    }
  },
};
