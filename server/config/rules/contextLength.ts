import type { TaskConfig } from "../resolved.ts";
import { environmentOf } from "./environments.ts";
import { mine, placeOf, underneath, type Rule } from "./rule.ts";

/** A tiny model reads one token per character. */
function longestPrompt(task: TaskConfig): number {
  const { max_prompt: most } = task.source.params;
  if (typeof most === "number") return most;
  const environment = environmentOf(task);
  return environment.kind === "made" ? environment.longestPrompt : 0;
}

export const contextLength: Rule = {
  id: "context-length",
  check({ config, stages, file, root, report }) {
    const { context } = config.model.size;
    if (config.model.base !== "tiny") return;
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
      report({ rule: contextLength.id, message, key: underneath(view, at, "rollout.max_tokens"), at });
    }
  },
};
