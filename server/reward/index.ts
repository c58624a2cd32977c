import type { Declaration } from "../config/declaration.ts";

export const rewardTerms: readonly Declaration<"reward">[] = [];
export const combiners: readonly Declaration<"combine">[] = [];
