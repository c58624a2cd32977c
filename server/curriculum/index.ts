import type { Declaration } from "../config/declaration.ts";

export const arms: readonly Declaration<"arms">[] = [];
export const signals: readonly Declaration<"signal">[] = [];
export const estimators: readonly Declaration<"estimator">[] = [];
export const samplers: readonly Declaration<"sampler">[] = [];
export const admissions: readonly Declaration<"admission">[] = [];
export const refills: readonly Declaration<"refill">[] = [];
