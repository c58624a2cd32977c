import type { Declaration } from "../config/declaration.ts";

export const taskSources: readonly Declaration<"task">[] = [];
