/**
 * How many held-out tasks a run evaluates where its config does not say: a large model is timed on a few of them before its
 * first evaluation, and asked as many as it answers in a minute. The number lies in the run's folder, so that all of its
 * evaluations, a resumed run's as well, ask the same tasks and compare.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { messageOf, UserError } from "../../../shared/lib/errors.ts";
import { describeShape } from "../../engine/index.ts";
import { isLean } from "../../engine/memory.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import type { Clock } from "../../core/basics.ts";
import { evaluate, type Examination } from "./evaluate.ts";
import type { Recorder } from "../step/log/recorder.ts";

/** Seconds that an evaluation should take at most. */
const EVALUATION_SECONDS = 60;
/** Fewer tasks say too little. */
const LEAST = 16;
/** Tasks that are timed. */
const TIMED = 4;

/** Answers that a large model writes before it reports how far it is. */
const SLOW_TOGETHER = 128;

/** How many answers a model writes at once; undefined: as many as ever are. */
export const togetherOf = ({ model }: Pick<RunConfig, "model">): number | undefined =>
  isLean(describeShape(model)) ? SLOW_TOGETHER : undefined;

const schema = z.object({ tasks: z.int().positive() });
const fileOf = (folder: string): string => join(folder, "evaluation.json");

/** In whole eights, since tasks are spread over arms. */
export function fittingTasks(secondsEach: number, most: number): number {
  const fitting = 8 * Math.floor(EVALUATION_SECONDS / Math.max(secondsEach, Number.MIN_VALUE) / 8);
  return Math.min(most, Math.max(LEAST, fitting));
}

/** What the run decided before; undefined: nothing yet. @throws UserError where the file is damaged */
function decided(folder: string): number | undefined {
  const file = fileOf(folder);
  if (!existsSync(file)) return undefined;
  try {
    return schema.parse(JSON.parse(readFileSync(file, "utf8"))).tasks;
  } catch (error) {
    throw new UserError(`${file} does not say how many tasks the run evaluates: ${messageOf(error)}.`, {
      file,
      code: "evaluation-size",
      action: "Remove the file and set evaluation.prompts to the number in the run's log.",
      cause: error,
    });
  }
}

interface Sizing {
  /** Of the run. */
  readonly folder: string;
  /** Tasks that there are. */
  readonly most: number;
  /** Asks so many of them. */
  readonly ask: (tasks: number) => Promise<void>;
  /** Milliseconds. */
  readonly now?: () => number;
}

/** @returns the number, and the seconds that each task took where it was decided now */
export async function evaluationSize({
  folder,
  most,
  ask,
  now = () => performance.now(),
}: Sizing): Promise<{ readonly tasks: number; readonly secondsEach?: number }> {
  const before = decided(folder);
  if (before !== undefined) return { tasks: Math.min(most, before) };
  // The first answers wait for programs to be made.
  await ask(1);
  const began = now();
  await ask(Math.min(TIMED, most));
  const secondsEach = (now() - began) / 1000 / Math.min(TIMED, most);
  const tasks = fittingTasks(secondsEach, most);
  writeFileSync(fileOf(folder), `${JSON.stringify({ tasks })}\n`, { flush: true });
  return { tasks, secondsEach };
}

/** What every evaluation of a run asks, and how many answers at once. */
export type EvaluationPlan = Pick<Examination, "tasks" | "algorithm" | "together">;

/**
 * The same for a large model with fewer answers at once, and, where the config does not say how many tasks, with as many as
 * it answers in a minute. A small model keeps them all.
 * @param folder of the run; undefined: nothing is kept
 */
export async function sized(
  exam: Examination,
  clock: Clock,
  recorder: Recorder,
  folder: string | undefined,
): Promise<EvaluationPlan> {
  const { config, tasks: all, algorithm } = exam;
  const together = togetherOf(config);
  if (together === undefined) return { tasks: all, algorithm };
  const slow = { tasks: all, algorithm, together };
  if (config.evaluation.fits !== true || folder === undefined || all.length === 0) return slow;
  const { tasks, secondsEach } = await evaluationSize({
    folder,
    most: all.length,
    ask: async (count) => void (await evaluate({ ...exam, ...slow, tasks: all.slice(0, count) }, clock)),
  });
  if (secondsEach !== undefined) reportSize(recorder, { tasks, secondsEach, of: all.length }, exam);
  return { ...slow, tasks: all.slice(0, tasks) };
}

function reportSize(
  recorder: Recorder,
  { tasks, secondsEach, of }: { readonly tasks: number; readonly secondsEach: number; readonly of: number },
  { config }: Examination,
): void {
  recorder.event(
    "info",
    "evaluation-size",
    `Each evaluation asks ${tasks} of ${of} held-out tasks, ${1 + config.evaluation.samples} answers each: about ${Math.ceil(tasks * secondsEach)} s at this model's speed.`,
    {
      ...(tasks < of && { action: "To ask another number, set evaluation.prompts." }),
      data: { tasks, of, seconds_each: secondsEach },
    },
  );
  recorder.commit();
}
