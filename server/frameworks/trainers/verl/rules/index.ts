/** Rules of verl: from what starts to what is trained on. */
import type { FrameworkRule } from "../../../rules/rule.ts";
import { contextLength } from "./data/contextLength.ts";
import { criticOff } from "./loss/criticOff.ts";
import { curriculumSampler } from "./data/curriculumSampler.ts";
import { dataColumns } from "./data/dataColumns.ts";
import { defaults } from "./defaults.ts";
import { dataFiles } from "./data/dataFiles.ts";
import { datasetSize } from "./batch/datasetSize.ts";
import { dynamicBatch } from "./batch/dynamicBatch.ts";
import { estimatorNeeds } from "./loss/estimatorNeeds.ts";
import { expertParallel } from "./expertParallel.ts";
import { fileLogger } from "./fileLogger.ts";
import { filterGroups } from "./loss/filterGroups.ts";
import { filterMetric } from "./loss/filterMetric.ts";
import { generationBatch } from "./batch/generationBatch.ts";
import { globalMicroBatch } from "./batch/globalMicroBatch.ts";
import { groupOfOne } from "./batch/groupOfOne.ts";
import { importanceThreshold } from "./loss/importanceThreshold.ts";
import { klController } from "./loss/klController.ts";
import { klTwice } from "./loss/klTwice.ts";
import { legacyReward } from "./data/legacyReward.ts";
import { logProbShare } from "./batch/logProbShare.ts";
import { loraRank } from "./loraRank.ts";
import { lossNumbers } from "./loss/lossNumbers.ts";
import { megatronParallel } from "./megatronParallel.ts";
import { microBatch } from "./batch/microBatch.ts";
import { miniBatchPerGpu } from "./batch/miniBatchPerGpu.ts";
import { miniBatchRemainder } from "./batch/miniBatchRemainder.ts";
import { miniBatchSize } from "./batch/miniBatchSize.ts";
import { missingData } from "./data/missingData.ts";
import { multiTurn } from "./multiTurn.ts";
import { nsysOptions } from "./nsysOptions.ts";
import { overlongBuffer } from "./data/overlongBuffer.ts";
import { positionEmbeddings } from "./positionEmbeddings.ts";
import { prefixGrouper } from "./prefixGrouper.ts";
import { promptTruncation } from "./data/promptTruncation.ts";
import { rejectionThreshold } from "./loss/rejectionThreshold.ts";
import { removePadding } from "./removePadding.ts";
import { resourcePools } from "./resourcePools.ts";
import { resumePath } from "./resumePath.ts";
import { rewardFunction } from "./data/rewardFunction.ts";
import { rewardManager } from "./data/rewardManager.ts";
import { rolloutEngine } from "./rolloutEngine.ts";
import { rolloutLogProbs } from "./loss/rolloutLogProbs.ts";
import { rolloutMode } from "./rolloutMode.ts";
import { rolloutParallel } from "./rolloutParallel.ts";
import { rolloutsPerGpu } from "./batch/rolloutsPerGpu.ts";
import { routerReplay } from "./routerReplay.ts";
import { separateAsync } from "./separateAsync.ts";
import { staleness } from "./staleness.ts";
import { tokenBudget } from "./batch/tokenBudget.ts";
import { unreadKeys } from "./unread.ts";
import { validationTemperature } from "./validationTemperature.ts";

export const verlRules: readonly FrameworkRule[] = [
  ...[rolloutEngine, rolloutMode, rolloutParallel, expertParallel, megatronParallel, removePadding],
  ...[rolloutsPerGpu, miniBatchSize, miniBatchRemainder, miniBatchPerGpu, microBatch, globalMicroBatch],
  ...[logProbShare, dynamicBatch, tokenBudget],
  ...[contextLength, positionEmbeddings, promptTruncation, multiTurn, validationTemperature],
  ...[loraRank, lossNumbers, estimatorNeeds, groupOfOne, criticOff, klController, klTwice],
  ...[importanceThreshold, rejectionThreshold, rolloutLogProbs, filterGroups, filterMetric],
  ...[staleness, generationBatch, separateAsync, resourcePools],
  ...[datasetSize, dataFiles, missingData, dataColumns, curriculumSampler],
  ...[rewardManager, rewardFunction, legacyReward, overlongBuffer],
  ...[prefixGrouper, routerReplay, resumePath, nsysOptions, fileLogger, unreadKeys, defaults],
];
