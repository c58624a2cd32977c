import type { Declaration } from "../config/declaration.ts";

export const klEstimators: readonly Declaration<"kl">[] = [];
