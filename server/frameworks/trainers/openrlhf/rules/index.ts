/** OpenRLHF's rules, in the order in which OpenRLHF would reach them. */
import type { FrameworkRule } from "../../../rules/rule.ts";
import { agentFile, rewardFile } from "./agentFile.ts";
import { asynchronous } from "./asynchronous.ts";
import { colocation } from "./colocation.ts";
import { correction } from "./correction.ts";
import { dualClip } from "./dualClip.ts";
import { dynamicFiltering } from "./batch/dynamicFiltering.ts";
import { evaluationData, evaluationReward } from "./evaluationReward.ts";
import { fewSamples } from "./batch/fewSamples.ts";
import { groupSize } from "./batch/groupSize.ts";
import { inputTemplate } from "./inputTemplate.ts";
import { klEstimator } from "./klEstimator.ts";
import { labelKey } from "./labelKey.ts";
import { learningRate } from "./learningRate.ts";
import { lengthPenalty } from "./lengthPenalty.ts";
import { missingData } from "./missingData.ts";
import { noEngine } from "./noEngine.ts";
import { noReward } from "./noReward.ts";
import { packing } from "./packing.ts";
import { promptBudget } from "./batch/promptBudget.ts";
import { promptMixture } from "./batch/promptMixture.ts";
import { queueSize } from "./batch/queueSize.ts";
import { sampleBatches } from "./batch/sampleBatches.ts";
import { staleness } from "./batch/staleness.ts";
import { temperature } from "./temperature.ts";
import { tensorParallel } from "./tensorParallel.ts";
import { trainBatch } from "./batch/trainBatch.ts";
import { trainRemainder } from "./batch/trainRemainder.ts";
import { unread } from "./unread.ts";
import { visionModel } from "./visionModel.ts";

export const openrlhfRules: readonly FrameworkRule[] = [
  ...[noReward, groupSize, visionModel, inputTemplate, packing, noEngine, asynchronous],
  ...[evaluationReward, klEstimator, dynamicFiltering, sampleBatches, colocation],
  ...[trainBatch, tensorParallel, dualClip, correction, queueSize, promptMixture],
  ...[agentFile, rewardFile, lengthPenalty],
  ...[trainRemainder, promptBudget, fewSamples, labelKey, staleness, temperature],
  ...[evaluationData, missingData, learningRate, unread],
];
