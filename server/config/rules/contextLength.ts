import { createMethod } from "../create.ts";
import type { TaskConfig } from "../resolved.ts";
import { keyedRandom } from "../keyedRandom.ts";
import { mine, placeOf, underneath, type Rule } from "./rule.ts";

/** Longest of a few prompts a built-in environment writes; a tiny model reads one token per character. */
const measured = new Map<string, number>();
const draws = 32;

function longestPrompt({ name, source }: TaskConfig): number {
  const { max_prompt: most } = source.params;
  if (typeof most === "number") return most;
  if (source.declaration.name === "dataset") return 0;
  const key = `${source.declaration.name} ${JSON.stringify(source.params)}`;
  const known = measured.get(key);
  if (known !== undefined) return known;
  const random = keyedRandom("prompts of a config");
  const tasks = createMethod(source, { random, max_tokens: 1, group: 1, name });
  let longest = 0;
  for (let i = 0; i < draws; i++)
    longest = Math.max(longest, tasks.draw("train", undefined, random.fork(i))?.prompt.length ?? 0);
  measured.set(key, longest);
  return longest;
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
      const prompt = longest?.length ?? 0;
      if (prompt + rollout.max_tokens <= context) continue;
      const at =
        mine(
          file,
          placeOf(view.body, "rollout", "max_tokens"),
          placeOf(root, "model", "context"),
          placeOf(view.body, "tasks"),
        ) ?? root.origin;
      const most = context - prompt;
      const message = `A prompt of \`${longest?.name ?? "the tasks"}\` (${prompt} tokens) and a response of ${rollout.max_tokens} are ${prompt + rollout.max_tokens} tokens, longer than the model's context of ${context}: set \`rollout.max_tokens\` to ${Math.max(most, 1)} or less, or \`model.context\` to at least ${prompt + rollout.max_tokens}.`;
      report({ rule: contextLength.id, message, key: underneath(view, at, "rollout.max_tokens"), at });
    }
  },
};
