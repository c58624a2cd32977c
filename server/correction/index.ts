import type { Declaration } from "../config/declaration.ts";

export const corrections: readonly Declaration<"correction">[] = [];
