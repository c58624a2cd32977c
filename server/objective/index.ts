import type { Declaration } from "../config/declaration.ts";

export const objectives: readonly Declaration<"objective">[] = [];
export const aggregates: readonly Declaration<"aggregate">[] = [];
