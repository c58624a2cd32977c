import type { Declaration } from "../config/declaration.ts";
import { clipped } from "./clipped.ts";
import { families } from "./families.ts";
import { reinforce } from "./reinforce.ts";
import { sequenceMean } from "./sequenceMean.ts";
import { sequenceSumNorm } from "./sequenceSumNorm.ts";
import { tokenMean } from "./tokenMean.ts";

export const objectives: readonly Declaration<"objective">[] = [clipped, reinforce, ...families];
export const aggregates: readonly Declaration<"aggregate">[] = [sequenceMean, tokenMean, sequenceSumNorm];
