import type { Declaration } from "../../core/declaration.ts";

/** What may be written as `play` of a task. */
export const environments: readonly Declaration<"environment">[] = [];
