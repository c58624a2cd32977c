import type { TaskConfig } from "../../core/config/resolved.ts";
import { openAll, type Sharing } from "./openTasks.ts";
import type { TaskSource } from "../../core/slots/tasks.ts";
import { create } from "../../core/create.ts";
import type { CreateContext } from "../../core/declaration.ts";

/** Opens the task sources of a body, in the order of the config. @param sharing those that make tasks, where stages share them */
export const openSources = (
  tasks: readonly TaskConfig[],
  context: CreateContext,
  sharing?: Sharing,
): { readonly config: TaskConfig; readonly source: TaskSource }[] =>
  openAll(tasks, (config) => create(config.source, context, config.name), context, sharing);
