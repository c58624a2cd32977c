/** Puts an environment that cannot tell its state where an episode stood: with the same seed and the same turns. */
import { z } from "zod";
import type { Json } from "../../../../shared/lib/json.ts";
import { onLines } from "../../../../shared/rollouts/turnTexts.ts";
import type { Environment, Observation } from "../../../core/slots/environment.ts";
import type { EpisodeState } from "../../../core/slots/guidance.ts";
import type { Task } from "../../../core/task.ts";

/** Kept at each reply in the place of the environment's state. */
const replay = z.object({
  seed: z.number(),
  /** Characters of the task's prompt before what the environment said first. */
  prompt: z.number(),
  /** Whether the environment heard the turn before: it hears nothing of calls to the run's tools. */
  heard: z.boolean(),
});
export const replayState = (state: z.output<typeof replay>): Json => state;

/** Several messages as one text. */
export const joined = (texts: readonly string[]): string => onLines(texts).join("");
/** A prompt with what an environment said after it. */
export const withGreeting = (prompt: string, { messages }: Observation): string =>
  joined([prompt, ...messages.map(({ text }) => text)].filter((text) => text !== ""));

const short = (text: string): string => JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);

/**
 * Equal seeds begin equal episodes, so it answers as it did; where it does not, the episode cannot go on.
 * @param task with the prompt that was asked, what the environment said first included
 * @param timed runs one call with the time that it may take
 * @throws Error where it answers otherwise, or has thrown
 */
export async function replayTurns(
  environment: Environment,
  task: Task,
  turns: EpisodeState["turns"],
  timed: <Value>(call: () => Promise<Value>) => Promise<Value>,
): Promise<void> {
  const states = turns.map(({ state }) => replay.safeParse(state).data);
  const last = states.at(-1);
  if (last === undefined)
    throw new Error("the environment cannot begin in the middle of an episode: it has no `restore`");
  const asked = { ...task, prompt: task.prompt.slice(0, last.prompt) };
  const greeted = withGreeting(asked.prompt, await timed(() => environment.reset(asked, last.seed)));
  if (greeted !== task.prompt) throw otherwise("at the reset", greeted, task.prompt);
  for (const [at, { text, reward }] of turns.entries()) {
    if (states[at + 1]?.heard !== true) continue;
    const now = await timed(() => environment.step(text));
    const said = joined(now.messages.map((message) => message.text));
    const number = turns.slice(0, at + 1).filter(({ role }) => role === "assistant").length;
    if (said !== turns[at + 1]!.text) throw otherwise(`to turn ${number}`, said, turns[at + 1]!.text);
    if (now.done) throw otherwise(`to turn ${number}`, "that the episode ends", "that it goes on");
    if ((now.reward ?? 0) !== (reward ?? 0))
      throw otherwise(`to turn ${number}`, `the reward ${now.reward ?? 0}`, `${reward ?? 0}`);
  }
}

const otherwise = (when: string, now: string, before: string): Error =>
  new Error(
    `the environment cannot be put in the middle of an episode: ${when} it says ${short(now)}, where it said ${short(before)}. Let the seed of \`reset\` decide all of its chances, or give it \`state\` and \`restore\`.`,
  );
