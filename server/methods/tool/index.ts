import type { Declaration } from "../../core/declaration.ts";

/** What `rollout.tools` may list. */
export const tools: readonly Declaration<"tool">[] = [];
