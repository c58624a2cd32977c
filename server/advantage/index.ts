import type { Declaration } from "../config/declaration.ts";

export const baselines: readonly Declaration<"baseline">[] = [];
export const scales: readonly Declaration<"scale">[] = [];
export const tokenWeights: readonly Declaration<"token_weight">[] = [];
