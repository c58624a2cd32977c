/** A task as it is saved, and what a made one says of its origin. */
import { z } from "zod";
import type { Json, JsonObject } from "../../../shared/lib/json.ts";
import type { Task } from "../../core/task.ts";

const lineageSchema = z.object({
  parents: z.array(z.string()).min(1),
  generation: z.number().int().min(1),
  step: z.number().int(),
  transform: z.string(),
  author: z.string(),
  answer: z.string(),
  tried: z.object({ successes: z.number().int(), rollouts: z.number().int() }).nullable(),
});

/** Where a made task comes from; its data has it as `lineage`. */
type Lineage = z.output<typeof lineageSchema>;

export const lineageOf = ({ data }: { readonly data: JsonObject }): Lineage | undefined =>
  lineageSchema.safeParse(data["lineage"]).data;

export const withLineage = (task: Task, lineage: Lineage): Task => ({
  ...task,
  data: {
    ...task.data,
    lineage: { ...lineage, tried: lineage.tried === null ? null : { ...lineage.tried } },
  },
});

/** The data of a task without what it says of its origin: what a child inherits. */
export const withoutLineage = (data: JsonObject): Record<string, Json> =>
  Object.fromEntries(Object.entries(data).filter(([key]) => key !== "lineage"));
