/** What evaluations of a config ask: its held-out tasks, or those of them that another model did not solve. */
import { readFileSync } from "node:fs";
import { z } from "zod";
import { UserError, messageOf } from "../../../shared/lib/errors.ts";
import type { CreateContext } from "../../core/declaration.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import { randomStream } from "../../lib/random.ts";
import type { DrawnTask } from "./draws.ts";
import { heldOut } from "./heldOut.ts";

const unsolvedSchema = z.object({
  /** The checkpoint, as it was named. */
  unsolved_by: z.string(),
  /** Answers that it had to each task. */
  samples: z.number().int(),
  /** Ids. */
  tasks: z.array(z.string()).min(1),
});
export type Unsolved = z.output<typeof unsolvedSchema>;

/** What an exam is drawn by: its own seed, so that runs of other seeds are asked the same. */
export const examContext = (
  { seed }: Pick<RunConfig["evaluation"], "seed">,
  context: CreateContext,
): CreateContext => ({ ...context, random: randomStream(seed, "methods") });

/** @throws UserError where the list of unsolved tasks cannot be read */
export function evaluationTasks(
  { top, evaluation }: Pick<RunConfig, "top" | "evaluation">,
  run: CreateContext,
): DrawnTask[] {
  const { prompts, unsolved_by: file } = evaluation;
  const context = examContext(evaluation, run);
  if (file === undefined) return heldOut(top, context, prompts);
  const { tasks } = readUnsolved(file);
  return heldOut(top, context, Math.min(prompts, tasks.length), new Set(tasks));
}

/** @throws UserError where it is no such list */
export function readUnsolved(file: string): Unsolved {
  try {
    return unsolvedSchema.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch (error) {
    throw new UserError(`The list of unsolved tasks cannot be read: ${reasonOf(error)}.`, {
      file,
      code: "unsolved-list",
      cause: error,
      action: "Write it with `gradus evaluate CHECKPOINT FILE --unsolved LIST.json`.",
    });
  }
}

const reasonOf = (error: unknown): string =>
  error instanceof z.ZodError
    ? error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; ")
    : messageOf(error);
