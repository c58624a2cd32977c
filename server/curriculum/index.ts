import type { Declaration } from "../config/declaration.ts";
import { admitAll, nonzeroVariance, successBand } from "./admissions.ts";
import { byDifficulty, byTask, undivided } from "./arms.ts";
import { ema } from "./ema.ts";
import { adaptiveRefill, fixedRefill, noRefill } from "./refills.ts";
import { boltzmann, proportional, uniform } from "./samplers.ts";
import { meanAbsAdvantage, successRate } from "./signals.ts";
import { last, window } from "./window.ts";

export const arms: readonly Declaration<"arms">[] = [undivided, byDifficulty, byTask];
export const signals: readonly Declaration<"signal">[] = [meanAbsAdvantage, successRate];
export const estimators: readonly Declaration<"estimator">[] = [ema, window, last];
export const samplers: readonly Declaration<"sampler">[] = [uniform, boltzmann, proportional];
export const admissions: readonly Declaration<"admission">[] = [admitAll, nonzeroVariance, successBand];
export const refills: readonly Declaration<"refill">[] = [noRefill, fixedRefill, adaptiveRefill];
