import type { Declaration } from "../config/declaration.ts";
import { batchStd } from "./batchStd.ts";
import { given } from "./given.ts";
import { groupMean } from "./groupMean.ts";
import { groupStd } from "./groupStd.ts";
import { leaveOneOut } from "./leaveOneOut.ts";
import { noBaseline } from "./noBaseline.ts";
import { noScale } from "./noScale.ts";
import { zero } from "./zero.ts";

export const baselines: readonly Declaration<"baseline">[] = [groupMean, leaveOneOut, noBaseline, given];
export const scales: readonly Declaration<"scale">[] = [groupStd, batchStd, noScale, zero];
export const tokenWeights: readonly Declaration<"token_weight">[] = [];
