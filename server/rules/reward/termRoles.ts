/** Which reward terms judge whether an answer is correct, and which only add to them, as far as the config shows. */
import type { RewardTermConfig, StageBody } from "../../core/config/resolved.ts";
import { decidingOrder, judgesOf } from "../../core/config/termFacts.ts";
import { perKey, perObject } from "../../lib/perObject.ts";
import { signatureOf } from "../../config/check/signatures/index.ts";
import { appliesTo, scheduledRange, termRange } from "../ranges.ts";

interface TermRoles {
  /** Those that judge the answer, and those that the config itself calls a success. */
  readonly answers: readonly RewardTermConfig[];
  readonly auxiliary: readonly RewardTermConfig[];
}

const acts = ({ weight }: RewardTermConfig): boolean => scheduledRange(weight).some((end) => end !== 0);

/** Roles in a reward that stages have in common, by the task's name. */
const rolesByTask = perObject((reward: StageBody["reward"]) =>
  perKey((task: string) => rolesIn(reward, task)),
);

/** Of the terms that score a task's rollouts. */
export const rolesOf = (reward: StageBody["reward"], task: string): TermRoles => rolesByTask(reward)(task);

function rolesIn(reward: StageBody["reward"], task: string): TermRoles {
  const applying = reward.terms.filter((term) => appliesTo(term, task));
  const order = decidingOrder(reward).filter((term) => appliesTo(term, task));
  const named = reward.success.terms === undefined ? order.slice(0, 1) : order;
  const isAnswer = (term: RewardTermConfig): boolean => {
    const judges = judgesOf(term);
    return judges === "answer" || (judges !== "form" && named.includes(term));
  };
  return {
    answers: applying.filter((term) => isAnswer(term) && acts(term)),
    auxiliary: applying.filter((term) => !isAnswer(term) && acts(term)),
  };
}

/** Whether the auxiliary terms also reward a wrong answer. Nothing is claimed about an unknown combiner. */
export function rewardsWrongAnswers({ combine }: StageBody["reward"], { answers }: TermRoles): boolean {
  const { name } = combine.declaration;
  if (name === "sum" || name === "progress") return true;
  // A factor of 0 removes the whole reward, a negative one does not. The range of a user's function is unknown.
  return name === "product" && answers.every((term) => (termRange(term) ?? [0])[0] < 0);
}

/** Whether groups without a right answer may train. */
export function admitsAllWrong({ curriculum }: StageBody): boolean {
  const { declaration, params } = curriculum.admission;
  if (declaration.name !== "success_band") return true;
  const { low, inclusive } = params;
  return inclusive !== false && typeof low === "number" && low <= 0;
}

/**
 * What is known of what a term tells answers apart by. `gradual`: nearly any two answers differ in it (`length` with a
 * slope). `flat`: most answers have the same of it (a format, a limit). `blind`: a function of one's own that is not
 * given the task, so it cannot know which answers are right. `open`: one that may. undefined: nothing.
 */
export type Form = "gradual" | "flat" | "blind" | "open";

export function formOf(config: RewardTermConfig): Form | undefined {
  const { declaration, params } = config.term;
  const { shape, file, export: name } = params;
  if (judgesOf(config) === "form")
    return shape === "linear" || shape === "group_relative" ? "gradual" : "flat";
  if (declaration.name !== "user" || typeof file !== "string" || typeof name !== "string") return undefined;
  const taken = signatureOf(file, name)?.taken;
  return taken !== undefined && !taken.rest && !taken.names.some((one) => ofTheTask.has(one))
    ? "blind"
    : "open";
}

/** What of a call's input tells, directly or not, what is asked. `args` is the same for every call. */
const ofTheTask: ReadonlySet<string> = new Set(["task", "prompt", "group"]);
