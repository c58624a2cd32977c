import type { Declaration } from "../../core/declaration.ts";
import { batchMean } from "./baselines/batchMean.ts";
import { batchStd } from "./scales/batchStd.ts";
import { bestMinusSecond } from "./baselines/bestMinusSecond.ts";
import { canon } from "./baselines/canon.ts";
import { constant } from "./baselines/constant.ts";
import { critic } from "./baselines/critic.ts";
import { given } from "./baselines/given.ts";
import { greedy } from "./baselines/greedy.ts";
import { groupMean } from "./baselines/groupMean.ts";
import { groupStd } from "./scales/groupStd.ts";
import { leaveOneOut } from "./baselines/leaveOneOut.ts";
import { meanReward } from "./scales/meanReward.ts";
import { median } from "./baselines/median.ts";
import { monteCarlo } from "./baselines/monteCarlo.ts";
import { movingAverage } from "./baselines/movingAverage.ts";
import { noBaseline } from "./baselines/noBaseline.ts";
import { nonzeroShare } from "./scales/nonzeroShare.ts";
import { noScale } from "./scales/noScale.ts";
import { opo } from "./baselines/opo.ts";
import { optimalTokenBaseline } from "./baselines/optimalTokenBaseline.ts";
import { pairPartner } from "./baselines/pairPartner.ts";
import { passAtK } from "./baselines/passAtK.ts";
import { sign } from "./scales/sign.ts";
import { stepLead } from "./baselines/stepLead.ts";
import { treeSiblings } from "./baselines/treeSiblings.ts";
import { turnCritic } from "./baselines/turnCritic.ts";
import { turnProgress } from "./baselines/turnProgress.ts";
import { whitening } from "./scales/whitening.ts";
import { contrast } from "./weights/contrast.ts";
import { entropyWeight } from "./weights/entropy.ts";
import { evidence } from "./weights/evidence.ts";
import { phrases } from "./weights/phrases.ts";
import { power } from "./weights/power.ts";
import { spanWeight } from "./weights/spans.ts";
import { zero } from "./scales/zero.ts";

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
  turnProgress,
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
  evidence,
  contrast,
];
