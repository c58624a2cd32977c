/** TRL's rules, in the order in which TRL would reach them. */
import type { FrameworkRule } from "../../../rules/rule.ts";
import { bestModel } from "./bestModel.ts";
import { paddingFree } from "./paddingFree.ts";
import { preferenceLoss } from "./loss/preferenceLoss.ts";
import { prefetch } from "./prefetch.ts";
import { schedule } from "./loss/schedule.ts";
import { steps } from "./batch/steps.ts";
import { batchSearch } from "./batch/batchSearch.ts";
import { batchSlices } from "./batch/batchSlices.ts";
import { cispoCeiling } from "./loss/cispoCeiling.ts";
import { completionsHub } from "./completionsHub.ts";
import { completionsTable } from "./completionsTable.ts";
import { dataSource } from "./batch/dataSource.ts";
import { evaluationBatch } from "./batch/evaluationBatch.ts";
import { evaluationSplit } from "./batch/evaluationSplit.ts";
import { fewPrompts } from "./batch/fewPrompts.ts";
import { frozenAdapter } from "./frozenAdapter.ts";
import { emptyBatch, generationBatch } from "./batch/generationBatch.ts";
import { groupBatch } from "./batch/groupBatch.ts";
import { groupSize } from "./batch/groupSize.ts";
import { headAdapter } from "./headAdapter.ts";
import { importanceBounds } from "./loss/importanceBounds.ts";
import { learningRate } from "./loss/learningRate.ts";
import { ligerLoss } from "./loss/ligerLoss.ts";
import { lossWeights } from "./loss/lossWeights.ts";
import { missingData } from "./missingData.ts";
import { maskedTruncation } from "./loss/maskedTruncation.ts";
import { modelLength } from "./modelLength.ts";
import { newerTransformers } from "./newerTransformers.ts";
import { noIteration } from "./batch/noIteration.ts";
import { noReward } from "./reward/noReward.ts";
import { precision } from "./precision.ts";
import { promptFormat } from "./reward/promptFormat.ts";
import { prefilledThought } from "./reward/prefilledThought.ts";
import { quantization } from "./quantization.ts";
import { referenceModel } from "./referenceModel.ts";
import { rewardFunction } from "./reward/rewardFunction.ts";
import { rewardNames } from "./reward/rewardNames.ts";
import { rewardShare } from "./reward/rewardShare.ts";
import { rewardWeights } from "./reward/rewardWeights.ts";
import { routerLoss } from "./routerLoss.ts";
import { rolloutFunction } from "./reward/rolloutFunction.ts";
import { rewardDefinition } from "./reward/rewardDefinition.ts";
import { sequenceLevel } from "./loss/sequenceLevel.ts";
import { sequenceParallel } from "./sequenceParallel.ts";
import { streaming } from "./batch/streaming.ts";
import { temperature } from "./loss/temperature.ts";
import { trainerArgument } from "./trainerArgument.ts";
import { unread } from "./unread.ts";
import { unused } from "./unused.ts";
import { vespoMode } from "./loss/vespoMode.ts";
import { vllmProcesses } from "./vllmProcesses.ts";

export const trlRules: readonly FrameworkRule[] = [
  ...[precision, sequenceParallel, completionsHub, batchSearch],
  ...[generationBatch, emptyBatch, batchSlices, evaluationBatch, groupBatch, groupSize, importanceBounds],
  ...[quantization, rewardWeights, noReward, rewardNames, rewardFunction, rolloutFunction],
  ...[dataSource, missingData, streaming, newerTransformers],
  ...[ligerLoss, headAdapter, sequenceLevel, vespoMode, referenceModel, vllmProcesses, temperature],
  ...[noIteration, fewPrompts, modelLength, maskedTruncation, completionsTable, unread],
  ...[cispoCeiling, rewardShare, promptFormat, prefilledThought, evaluationSplit, learningRate],
  ...[trainerArgument, rewardDefinition, lossWeights, unused, frozenAdapter],
  ...[steps, bestModel, schedule, prefetch, preferenceLoss, paddingFree, routerLoss],
];
