import type { StageBody, TaskConfig } from "../resolved.ts";
import { askedBeyond, attemptsOf, episodeTokens, hasAttempts } from "../shapeFacts.ts";
import { environmentOf } from "./environments.ts";
import { mine, pathIn, placeOf, underneath, type Rule } from "./rule.ts";

/** A tiny model reads one token per character, unless it learns a vocabulary. */
export function longestPrompt(task: TaskConfig): number {
  const { max_prompt: most } = task.source.params;
  if (typeof most === "number") return most;
  const environment = environmentOf(task);
  return environment.kind === "made" ? environment.longestPrompt : 0;
}

type Rollout = StageBody["rollout"];

/** The `max_tokens` with which all attempts fit into so many tokens. */
function longestThatFits(rollout: Rollout, room: number): number {
  const each = episodeTokens({ ...rollout, max_tokens: 1 }) - episodeTokens({ ...rollout, max_tokens: 0 });
  return Math.floor((room - episodeTokens({ ...rollout, max_tokens: 0 })) / each);
}

function responseWords(rollout: Rollout): string {
  if (!hasAttempts(rollout)) return `a response of ${rollout.max_tokens}`;
  return `an episode of ${attemptsOf(rollout)} attempts (\`rollout.shape: ${rollout.shape.declaration.name}\`) with what is said between them, up to ${episodeTokens(rollout)},`;
}

export const contextLength: Rule = {
  id: "context-length",
  title: "Prompt and response do not fit the model's context",
  why: "A tiny model reads one character a token and has a context of `model.context` tokens. A prompt and a response that are longer together are cut off by the end of the context, not by `max_tokens`, so the longest tasks can never be answered.\n\nAn episode of several attempts (`rollout.shape`) has room for all of them: each has `rollout.max_tokens`, unless they share them (`budget: episode`).\n\nShorten `rollout.max_tokens`, or enlarge `model.context`.",
  check({ config, stages, file, root, report, edits }) {
    const { context } = config.model.size;
    if (config.model.base !== "tiny" || config.model.tokenizer?.use === "bpe") return;
    for (const view of stages) {
      const { tasks, rollout } = view.config.body;
      const longest = tasks
        .map((task) => ({ name: task.name, length: longestPrompt(task) }))
        .sort((a, b) => b.length - a.length)[0];
      const prompt = (longest?.length ?? 0) + rollout.prefix.length + askedBeyond(rollout);
      const needed = episodeTokens(rollout);
      if (prompt + needed <= context) continue;
      const at =
        mine(
          file,
          placeOf(view.body, "rollout", "max_tokens"),
          placeOf(view.body, "rollout", "prefix"),
          placeOf(root, "model", "context"),
          placeOf(view.body, "tasks"),
        ) ?? root.origin;
      const most = longestThatFits(rollout, context - prompt);
      const whole = prompt + needed;
      const message = `A prompt of \`${longest?.name ?? "the tasks"}\` (${prompt} tokens) and ${responseWords(rollout)} are ${whole} tokens, longer than the model's context of ${context}: set \`rollout.max_tokens\` to ${Math.max(most, 1)} or less, or \`model.context\` to at least ${whole}.`;
      const path = pathIn(view, placeOf(view.body, "rollout", "max_tokens"), "rollout", "max_tokens");
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
                `Change \`rollout.max_tokens\` to ${most} (${hasAttempts(rollout) ? "the most that fits" : `= ${context} of the context − ${prompt} of the prompt`})`,
              ),
          edits.set(
            ["model", "context"],
            String(whole),
            `Change \`model.context\` to ${whole} (= ${prompt} of the prompt + ${needed})`,
            most < 1,
          ),
        ],
      });
    }
  },
};
