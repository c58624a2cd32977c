/** What has been drawn for a step, until its outcomes are known and a little longer. */
import { z } from "zod";
import type { DrawnTask } from "../../../algorithm/curriculum/draws.ts";
import { taskSchema } from "../../../core/savedTask.ts";

/** A drawn task with the name of its group, which is unique in the step. */
export interface NamedTask extends DrawnTask {
  readonly id: string;
}

const namedSchema = z
  .object({ id: z.string(), arm: z.string(), task: taskSchema, rollouts: z.number().int().optional() })
  .transform(({ rollouts, ...rest }): NamedTask => ({
    ...rest,
    ...(rollouts !== undefined && { rollouts }),
  }));

export const drawnSchema = z.object({
  step: z.number().int(),
  /** Places of its stage and of the one whose steps are counted. */
  index: z.number().int(),
  holder: z.number().int(),
  clock: z.object({ step: z.number().int(), stageStep: z.number().int() }),
  /** The last step whose outcomes were known when it was drawn; −1: none. */
  after: z.number().int(),
  /** Arms of the stage that the step has drawn, by number. */
  taken: z.array(z.number().int()).readonly(),
  rounds: z.array(z.object({ prompts: z.number().int(), tasks: z.array(namedSchema).readonly() })).readonly(),
});
/** A step that has begun. */
export type DrawnStep = z.output<typeof drawnSchema>;

export const tasksIn = ({ rounds }: DrawnStep): NamedTask[] => rounds.flatMap(({ tasks }) => tasks);
