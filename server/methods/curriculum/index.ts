import type { Declaration } from "../../core/declaration.ts";
import { advantageRange } from "./admission/advantageRange.ts";
import { admitAll } from "./admission/admitAll.ts";
import { balanced } from "./admission/balanced.ts";
import { greedyWrong } from "./admission/greedyWrong.ts";
import { minBestReward } from "./admission/minBestReward.ts";
import { nonzeroVariance } from "./admission/nonzeroVariance.ts";
import { retainHardest } from "./admission/retainHardest.ts";
import { rewardSpread } from "./admission/rewardSpread.ts";
import { seenBefore } from "./admission/seenBefore.ts";
import { successBand } from "./admission/successBand.ts";
import { byDifficulty } from "./arms/byDifficulty.ts";
import { byFields } from "./arms/byFields.ts";
import { byParameters } from "./arms/byParameters.ts";
import { byPrompt } from "./arms/byPrompt.ts";
import { byTask } from "./arms/byTask.ts";
import { undivided } from "./arms/undivided.ts";
import { fixedBudget } from "./budget/fixedBudget.ts";
import { gradientVariance } from "./budget/gradientVariance.ts";
import { oversample } from "./budget/oversample.ts";
import { twoPhase } from "./budget/twoPhase.ts";
import { untilMixed } from "./budget/untilMixed.ts";
import { angleConcentration } from "./estimators/angleConcentration.ts";
import { beta } from "./estimators/beta.ts";
import { interpolatedBeta } from "./estimators/interpolatedBeta.ts";
import { betaRestart } from "./estimators/betaRestart.ts";
import { ema } from "./estimators/ema.ts";
import { fixed } from "./estimators/fixed.ts";
import { last } from "./estimators/last.ts";
import { nearestTask } from "./estimators/nearestTask.ts";
import { passRate } from "./estimators/passRate.ts";
import { pooledBeta } from "./estimators/pooledBeta.ts";
import { rasch } from "./estimators/rasch.ts";
import { reestimateBlock } from "./estimators/reestimateBlock.ts";
import { surrogate } from "./estimators/surrogate.ts";
import { valueHead } from "./estimators/valueHead.ts";
import { window } from "./estimators/window.ts";
import { windows } from "./estimators/windows.ts";
import { adaptiveRefill } from "./refill/adaptiveRefill.ts";
import { fixedRefill } from "./refill/fixedRefill.ts";
import { minimaRefill } from "./refill/minimaRefill.ts";
import { noRefill } from "./refill/noRefill.ts";
import { adaptiveTarget } from "./samplers/adaptiveTarget.ts";
import { again } from "./samplers/mixtures/again.ts";
import { bandSampler } from "./samplers/band.ts";
import { boltzmann } from "./samplers/boltzmann.ts";
import { easyToHard } from "./samplers/easyToHard.ts";
import { epsilonGreedy } from "./samplers/epsilonGreedy.ts";
import { expectedImprovement } from "./samplers/expectedImprovement.ts";
import { gaussianWindow } from "./samplers/mixtures/gaussianWindow.ts";
import { gmm } from "./samplers/gmm.ts";
import { greedy } from "./samplers/greedy.ts";
import { levelReplay } from "./samplers/levelReplay.ts";
import { mixture } from "./samplers/mixture.ts";
import { nearest } from "./samplers/nearest.ts";
import { prerequisites } from "./samplers/prerequisites.ts";
import { proportional } from "./samplers/proportional.ts";
import { selfRepellent } from "./samplers/selfRepellent.ts";
import { slidingLevels } from "./samplers/slidingLevels.ts";
import { sorted } from "./samplers/sorted.ts";
import { thompson } from "./samplers/thompson.ts";
import { tiers } from "./samplers/tiers.ts";
import { ucbSoftmax } from "./samplers/ucbSoftmax.ts";
import { uniform } from "./samplers/uniform.ts";
import { accuracyVariance } from "./signals/accuracyVariance.ts";
import { bestMinusMean } from "./signals/bestMinusMean.ts";
import { failureRatio } from "./signals/failureRatio.ts";
import { label } from "./signals/label.ts";
import { learningProgress } from "./signals/learningProgress.ts";
import { meanAbsAdvantage } from "./signals/meanAbsAdvantage.ts";
import { meanReward } from "./signals/meanReward.ts";
import { nearestProgress } from "./signals/nearestProgress.ts";
import { neverLearned } from "./signals/neverLearned.ts";
import { regret } from "./signals/regret.ts";
import { rewardRange } from "./signals/rewardRange.ts";
import { rewardStd } from "./signals/rewardStd.ts";
import { successRate } from "./signals/successRate.ts";
import { targetDistance } from "./signals/targetDistance.ts";
import { variance } from "./signals/variance.ts";

export const arms: readonly Declaration<"arms">[] = [
  undivided,
  byDifficulty,
  byTask,
  byPrompt,
  byFields,
  byParameters,
];
export const signals: readonly Declaration<"signal">[] = [
  meanAbsAdvantage,
  successRate,
  variance,
  targetDistance,
  failureRatio,
  meanReward,
  rewardRange,
  rewardStd,
  bestMinusMean,
  regret,
  accuracyVariance,
  neverLearned,
  learningProgress,
  nearestProgress,
  label,
];
export const estimators: readonly Declaration<"estimator">[] = [
  angleConcentration,
  ema,
  window,
  last,
  windows,
  beta,
  betaRestart,
  interpolatedBeta,
  pooledBeta,
  rasch,
  passRate,
  reestimateBlock,
  fixed,
  valueHead,
  nearestTask,
  surrogate,
];
export const samplers: readonly Declaration<"sampler">[] = [
  uniform,
  boltzmann,
  proportional,
  ucbSoftmax,
  thompson,
  nearest,
  adaptiveTarget,
  bandSampler,
  sorted,
  gaussianWindow,
  easyToHard,
  slidingLevels,
  tiers,
  greedy,
  epsilonGreedy,
  expectedImprovement,
  selfRepellent,
  levelReplay,
  prerequisites,
  gmm,
  again,
  mixture,
];
export const admissions: readonly Declaration<"admission">[] = [
  admitAll,
  nonzeroVariance,
  successBand,
  advantageRange,
  rewardSpread,
  minBestReward,
  greedyWrong,
  retainHardest,
  balanced,
  seenBefore,
];
export const refills: readonly Declaration<"refill">[] = [
  noRefill,
  fixedRefill,
  adaptiveRefill,
  minimaRefill,
];
export const budgets: readonly Declaration<"budget">[] = [
  fixedBudget,
  gradientVariance,
  oversample,
  twoPhase,
  untilMixed,
];
