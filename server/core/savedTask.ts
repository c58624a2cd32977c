/** A task as it is saved. */
import { z } from "zod";
import type { Task } from "./task.ts";

/** Optional keys that are absent, not undefined, as `Task` has them. */
export const taskSchema = z
  .object({
    id: z.string(),
    source: z.string(),
    env: z.string(),
    prompt: z.string(),
    begin: z.string().optional(),
    answer: z.string().optional(),
    data: z.record(z.string(), z.json()),
    solution: z.string().optional(),
  })
  .transform(({ begin, answer, solution, ...task }): Task => ({
    ...task,
    ...(begin === undefined ? {} : { begin }),
    ...(answer === undefined ? {} : { answer }),
    ...(solution === undefined ? {} : { solution }),
  }));
