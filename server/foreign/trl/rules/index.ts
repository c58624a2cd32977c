/** TRL's rules, in the order in which it would meet them. */
import type { ForeignRule } from "../../rule.ts";
import { bestModel } from "./bestModel.ts";
import { paddingFree } from "./paddingFree.ts";
import { preferenceLoss } from "./preferenceLoss.ts";
import { prefetch } from "./prefetch.ts";
import { schedule } from "./schedule.ts";
import { steps } from "./steps.ts";
import { batchSearch } from "./batchSearch.ts";
import { batchSlices } from "./batchSlices.ts";
import { cispoCeiling } from "./cispoCeiling.ts";
import { completionsHub } from "./completionsHub.ts";
import { completionsTable } from "./completionsTable.ts";
import { dataSource } from "./dataSource.ts";
import { evaluationBatch } from "./evaluationBatch.ts";
import { evaluationSplit } from "./evaluationSplit.ts";
import { fewPrompts } from "./fewPrompts.ts";
import { emptyBatch, generationBatch } from "./generationBatch.ts";
import { groupBatch } from "./groupBatch.ts";
import { groupSize } from "./groupSize.ts";
import { headAdapter } from "./headAdapter.ts";
import { importanceBounds } from "./importanceBounds.ts";
import { learningRate } from "./learningRate.ts";
import { ligerLoss } from "./ligerLoss.ts";
import { lossWeights } from "./lossWeights.ts";
import { maskedTruncation } from "./maskedTruncation.ts";
import { modelLength } from "./modelLength.ts";
import { newerTransformers } from "./newerTransformers.ts";
import { noIteration } from "./noIteration.ts";
import { noReward } from "./noReward.ts";
import { precision } from "./precision.ts";
import { quantization } from "./quantization.ts";
import { referenceModel } from "./referenceModel.ts";
import { rewardFunction } from "./rewardFunction.ts";
import { rewardNames } from "./rewardNames.ts";
import { rewardShare } from "./rewardShare.ts";
import { rewardWeights } from "./rewardWeights.ts";
import { routerLoss } from "./routerLoss.ts";
import { rolloutFunction } from "./rolloutFunction.ts";
import { rewardDefinition } from "./rewardDefinition.ts";
import { sequenceLevel } from "./sequenceLevel.ts";
import { sequenceParallel } from "./sequenceParallel.ts";
import { streaming } from "./streaming.ts";
import { temperature } from "./temperature.ts";
import { trainerArgument } from "./trainerArgument.ts";
import { unread } from "./unread.ts";
import { vespoMode } from "./vespoMode.ts";
import { vllmProcesses } from "./vllmProcesses.ts";

export const trlRules: readonly ForeignRule[] = [
  ...[precision, sequenceParallel, completionsHub, batchSearch],
  ...[generationBatch, emptyBatch, batchSlices, evaluationBatch, groupBatch, groupSize, importanceBounds],
  ...[
    quantization,
    rewardWeights,
    noReward,
    rewardNames,
    rewardFunction,
    rolloutFunction,
    dataSource,
    streaming,
  ],
  ...[
    newerTransformers,
    ligerLoss,
    headAdapter,
    sequenceLevel,
    vespoMode,
    referenceModel,
    vllmProcesses,
    temperature,
  ],
  ...[noIteration, fewPrompts, modelLength, maskedTruncation, completionsTable, unread],
  ...[cispoCeiling, rewardShare, evaluationSplit, learningRate],
  ...[trainerArgument, rewardDefinition, lossWeights],
  ...[steps, bestModel, schedule, prefetch, preferenceLoss, paddingFree, routerLoss],
];
