import type { StageBody, TaskConfig } from "../../core/config/resolved.ts";
import {
  askedBeyond,
  attemptsOf,
  episodeTokens,
  hasAttempts,
  playsEnvironment,
} from "../../core/config/shapeFacts.ts";
import { environmentOf } from "../tasks/environments.ts";
import type { ModelFacts } from "../../core/config/modelFacts.ts";
import { isReadable } from "../nearFile.ts";
import type { ConfigModel } from "../../config/check/model.ts";
import { firstTime, mine, pathIn, placeOf, underneath, type Rule } from "../rule.ts";

/** A tiny model reads one token per character, unless it learns a vocabulary. */
export function longestPrompt(task: TaskConfig): number {
  const { max_prompt: most } = task.source.params;
  if (typeof most === "number") return most;
  const environment = environmentOf(task);
  return environment.kind === "made" ? environment.longestPrompt : 0;
}

type RolloutBlock = StageBody["rollout"];

/** The `max_tokens` with which all attempts fit into so many tokens. */
function longestThatFits(rollout: RolloutBlock, room: number): number {
  const each = episodeTokens({ ...rollout, max_tokens: 1 }) - episodeTokens({ ...rollout, max_tokens: 0 });
  return Math.floor((room - episodeTokens({ ...rollout, max_tokens: 0 })) / each);
}

function responseWords(rollout: RolloutBlock): string {
  if (!hasAttempts(rollout)) return `a response of ${rollout.max_tokens}`;
  const turns = playsEnvironment(rollout) ? "turns" : "attempts";
  return `an episode of ${attemptsOf(rollout)} ${turns} (\`rollout.shape: ${rollout.shape.declaration.name}\`) with the messages between them, ${playsEnvironment(rollout) ? "at least" : "up to"} ${episodeTokens(rollout)},`;
}

/** Tokens of a task's longest prompt, as a stored model reads it; 0 where the prompts are not known. */
function storedPrompt(facts: ModelFacts, base: string, task: TaskConfig, room: number): number {
  const { max_prompt: most } = task.source.params;
  if (typeof most === "number") return most;
  const environment = environmentOf(task);
  if (environment.kind !== "made") return 0;
  // No tokenizer makes more tokens of a text than a few for each of its bytes: most prompts need not be read.
  const bytes = Math.max(0, ...environment.prompts.map((prompt) => Buffer.byteLength(prompt)));
  return 2 * bytes + 8 <= room ? 0 : facts.longestPrompt(base, environment.prompts);
}

/** The same of a model that is read from files: its context and its tokens are what they say. */
function checkStored(model: ConfigModel): void {
  const { config, stages, file, root, report, facts } = model;
  const { base } = config.model;
  if (facts === undefined || base.startsWith("${env:") || !isReadable(base)) return;
  const look = facts.look(base);
  if (look.kind === "unfit") return;
  const fresh = firstTime();
  for (const view of stages) {
    const { tasks, rollout } = view.config.body;
    if (view.config.kind !== "rl" || !fresh(rollout)) continue;
    const needed = episodeTokens(rollout) + askedBeyond(rollout);
    const longest = tasks
      .map((task) => ({ task, length: storedPrompt(facts, base, task, look.context - needed) }))
      .sort((a, b) => b.length - a.length)[0];
    // A prompt has a token at the least.
    const prompt = Math.max(1, longest?.length ?? 0);
    if (prompt + needed <= look.context) continue;
    const full = prompt >= look.context && longest?.task.source.params["max_prompt"] === undefined;
    const at =
      mine(
        file,
        placeOf(view.body, "rollout", "max_tokens"),
        placeOf(root, "model", "base"),
        placeOf(view.body, "tasks"),
      ) ?? root.origin;
    const which =
      longest === undefined || longest.length === 0
        ? "Any prompt"
        : `A prompt of \`${longest.task.name}\` (${prompt} tokens)`;
    const most = longestThatFits(rollout, look.context - prompt - askedBeyond(rollout));
    report({
      rule: contextLength.id,
      severity: full ? "error" : "warning",
      message: full
        ? `${which} fills the model's context of ${look.context}: choose a model with a longer context, or tasks with shorter prompts.`
        : `${which} and ${responseWords(rollout)} are ${prompt + needed} tokens, longer than the model's context of ${look.context}, so the context cuts such responses off.${most < 1 ? " Choose a model with a longer context, or shorter prompts." : ` Set \`rollout.max_tokens\` to ${most} or less.`}`,
      key: underneath(view, at, "rollout.max_tokens"),
      at,
    });
  }
}

export const contextLength: Rule = {
  id: "context-length",
  title: "Prompt and response do not fit the model's context",
  why: "A tiny model reads one character per token and has a context of `model.context` tokens. If a prompt and its response are longer together, the end of the context cuts the response off, not `max_tokens`, so the longest tasks can never be answered.\n\nThe files of a stored model say how long its context is, and its own tokenizer counts the prompts, without what a chat template adds; for a dataset's prompts `max_prompt` is the bound. For such a model this diagnostic is a warning, because many responses may be shorter than `max_tokens`; it is an error if a prompt alone fills the context, which stops the run.\n\nAn episode of several attempts (`rollout.shape`) needs room for all of them: each has `rollout.max_tokens`, unless they share them (`budget: episode`).\n\nShorten `rollout.max_tokens`, or enlarge `model.context`.",
  check(model) {
    const { config, stages, file, root, report, edits } = model;
    const { context } = config.model.size;
    if (config.model.base !== "tiny") return checkStored(model);
    if (config.model.tokenizer?.use === "bpe") return;
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
        fileFixes: [
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
