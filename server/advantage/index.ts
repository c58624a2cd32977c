import type { Declaration } from "../config/declaration.ts";
import { batchMean } from "./batchMean.ts";
import { batchStd } from "./batchStd.ts";
import { bestMinusSecond } from "./bestMinusSecond.ts";
import { canon } from "./canon.ts";
import { constant } from "./constant.ts";
import { critic } from "./critic.ts";
import { given } from "./given.ts";
import { greedy } from "./greedy.ts";
import { groupMean } from "./groupMean.ts";
import { groupStd } from "./groupStd.ts";
import { leaveOneOut } from "./leaveOneOut.ts";
import { meanReward } from "./meanReward.ts";
import { median } from "./median.ts";
import { monteCarlo } from "./monteCarlo.ts";
import { movingAverage } from "./movingAverage.ts";
import { noBaseline } from "./noBaseline.ts";
import { nonzeroShare } from "./nonzeroShare.ts";
import { noScale } from "./noScale.ts";
import { opo } from "./opo.ts";
import { optimalTokenBaseline } from "./optimalTokenBaseline.ts";
import { pairPartner } from "./pairPartner.ts";
import { passAtK } from "./passAtK.ts";
import { sign } from "./sign.ts";
import { stepLead } from "./stepLead.ts";
import { treeSiblings } from "./treeSiblings.ts";
import { turnCritic } from "./turnCritic.ts";
import { whitening } from "./whitening.ts";
import { entropyWeight } from "./weights/entropy.ts";
import { phrases } from "./weights/phrases.ts";
import { power } from "./weights/power.ts";
import { spanWeight } from "./weights/spans.ts";
import { zero } from "./zero.ts";

export const baselines: readonly Declaration<"baseline">[] = [
  groupMean,
  leaveOneOut,
  batchMean,
  noBaseline,
  constant,
  movingAverage,
  greedy,
  median,
  opo,
  canon,
  pairPartner,
  passAtK,
  bestMinusSecond,
  critic,
  turnCritic,
  stepLead,
  monteCarlo,
  treeSiblings,
  optimalTokenBaseline,
  given,
];
export const scales: readonly Declaration<"scale">[] = [
  groupStd,
  batchStd,
  whitening,
  meanReward,
  nonzeroShare,
  sign,
  noScale,
  zero,
];
export const tokenWeights: readonly Declaration<"token_weight">[] = [
  entropyWeight,
  power,
  phrases,
  spanWeight,
];
