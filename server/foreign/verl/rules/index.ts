/** Rules of verl: from what starts to what is trained on. */
import type { ForeignRule } from "../../rule.ts";
import { contextLength } from "./contextLength.ts";
import { criticOff } from "./criticOff.ts";
import { curriculumSampler } from "./curriculumSampler.ts";
import { dataColumns } from "./dataColumns.ts";
import { defaults } from "./defaults.ts";
import { dataFiles } from "./dataFiles.ts";
import { datasetSize } from "./datasetSize.ts";
import { dynamicBatch } from "./dynamicBatch.ts";
import { estimatorNeeds } from "./estimatorNeeds.ts";
import { expertParallel } from "./expertParallel.ts";
import { fileLogger } from "./fileLogger.ts";
import { filterGroups } from "./filterGroups.ts";
import { filterMetric } from "./filterMetric.ts";
import { generationBatch } from "./generationBatch.ts";
import { globalMicroBatch } from "./globalMicroBatch.ts";
import { groupOfOne } from "./groupOfOne.ts";
import { importanceThreshold } from "./importanceThreshold.ts";
import { klController } from "./klController.ts";
import { klTwice } from "./klTwice.ts";
import { legacyReward } from "./legacyReward.ts";
import { logProbShare } from "./logProbShare.ts";
import { loraRank } from "./loraRank.ts";
import { lossNumbers } from "./lossNumbers.ts";
import { megatronParallel } from "./megatronParallel.ts";
import { microBatch } from "./microBatch.ts";
import { miniBatchPerGpu } from "./miniBatchPerGpu.ts";
import { miniBatchRemainder } from "./miniBatchRemainder.ts";
import { miniBatchSize } from "./miniBatchSize.ts";
import { missingData } from "./missingData.ts";
import { multiTurn } from "./multiTurn.ts";
import { nsysOptions } from "./nsysOptions.ts";
import { overlongBuffer } from "./overlongBuffer.ts";
import { positionEmbeddings } from "./positionEmbeddings.ts";
import { prefixGrouper } from "./prefixGrouper.ts";
import { promptTruncation } from "./promptTruncation.ts";
import { rejectionThreshold } from "./rejectionThreshold.ts";
import { removePadding } from "./removePadding.ts";
import { resourcePools } from "./resourcePools.ts";
import { resumePath } from "./resumePath.ts";
import { rewardFunction } from "./rewardFunction.ts";
import { rewardManager } from "./rewardManager.ts";
import { rolloutEngine } from "./rolloutEngine.ts";
import { rolloutLogProbs } from "./rolloutLogProbs.ts";
import { rolloutMode } from "./rolloutMode.ts";
import { rolloutParallel } from "./rolloutParallel.ts";
import { rolloutsPerGpu } from "./rolloutsPerGpu.ts";
import { routerReplay } from "./routerReplay.ts";
import { separateAsync } from "./separateAsync.ts";
import { staleness } from "./staleness.ts";
import { tokenBudget } from "./tokenBudget.ts";
import { validationTemperature } from "./validationTemperature.ts";

export const verlRules: readonly ForeignRule[] = [
  rolloutEngine,
  rolloutMode,
  rolloutParallel,
  expertParallel,
  megatronParallel,
  removePadding,
  rolloutsPerGpu,
  miniBatchSize,
  miniBatchRemainder,
  miniBatchPerGpu,
  microBatch,
  globalMicroBatch,
  logProbShare,
  dynamicBatch,
  tokenBudget,
  contextLength,
  positionEmbeddings,
  promptTruncation,
  multiTurn,
  validationTemperature,
  loraRank,
  lossNumbers,
  estimatorNeeds,
  groupOfOne,
  criticOff,
  klController,
  klTwice,
  importanceThreshold,
  rejectionThreshold,
  rolloutLogProbs,
  filterGroups,
  filterMetric,
  staleness,
  generationBatch,
  separateAsync,
  resourcePools,
  datasetSize,
  dataFiles,
  missingData,
  dataColumns,
  curriculumSampler,
  rewardManager,
  rewardFunction,
  legacyReward,
  overlongBuffer,
  prefixGrouper,
  routerReplay,
  resumePath,
  nsysOptions,
  fileLogger,
  defaults,
];
