import { advantageNeeds } from "./advantage/advantageNeeds.ts";
import { advantageScale } from "./advantage/advantageScale.ts";
import { auxiliaryDecides } from "./reward/auxiliaryDecides.ts";
import { band } from "./curriculum/band.ts";
import { bestMetric } from "./stages/bestMetric.ts";
import { branchGroup } from "./rollout/branchGroup.ts";
import { branchParts } from "./rollout/branchParts.ts";
import { branchTokens } from "./rollout/branchTokens.ts";
import { condition } from "./curriculum/conditions.ts";
import { contextLength } from "./models/contextLength.ts";
import { emptyAnswer } from "./reward/emptyAnswer.ts";
import { environment } from "./tasks/environments.ts";
import { datasetFile } from "./tasks/datasetFile.ts";
import { modelContent } from "./models/modelContent.ts";
import { engineArgs } from "./engine/engineArgs.ts";
import { engineParts } from "./engine/engineParts.ts";
import { modelFile } from "./models/modelFile.ts";
import { modelMemory } from "./models/modelMemory.ts";
import { pythonReward } from "./reward/pythonReward.ts";
import { ownFile } from "./tasks/ownFile.ts";
import { rewardFile } from "./reward/rewardFile.ts";
import { grammarRegex } from "./rollout/grammarRegex.ts";
import { groupSize } from "./advantage/groupSize.ts";
import { generateParts } from "./tasks/generateParts.ts";
import { givenBaseline } from "./advantage/givenBaseline.ts";
import { klFull } from "./objective/klFull.ts";
import { klModel } from "./models/klModel.ts";
import { knownMetric } from "./knownNames.ts";
import { miniBatch } from "./objective/miniBatch.ts";
import { minTokens } from "./rollout/minTokens.ts";
import { modelSize } from "./models/modelSize.ts";
import { duplicateName } from "./stages/duplicateName.ts";
import { idleGamma } from "./reward/idleGamma.ts";
import { readTerm } from "./reward/readTerm.ts";
import { goldTerm } from "./reward/goldTerm.ts";
import { ownProcessTests } from "./reward/ownProcessTests.ts";
import { successTerm } from "./reward/successTerm.ts";
import { termTasks } from "./reward/termTasks.ts";
import { registeredModel } from "./models/models.ts";
import { needed } from "./needed.ts";
import { oneTurn } from "./rollout/oneTurn.ts";
import { objectiveHead } from "./objective/objectiveHead.ts";
import { perturbHead } from "./advantage/perturbHead.ts";
import { objectiveModel } from "./models/objectiveModel.ts";
import { passAt } from "./stages/passAt.ts";
import { armsBox } from "./curriculum/armsBox.ts";
import { auxiliaryBlock } from "./advantage/auxiliaryBlock.ts";
import { replayBlock } from "./objective/replayBlock.ts";
import { pastCurriculum } from "./curriculum/pastCurriculum.ts";
import { replayFile } from "./objective/replayFile.ts";
import { replayTerms } from "./objective/replayTerms.ts";
import { unreachableStage } from "./stages/unreachableStage.ts";
import { untilRange } from "./curriculum/untilRange.ts";
import { untilWindow } from "./curriculum/untilWindow.ts";
import { zeroWeight } from "./reward/zeroWeight.ts";
import { duplicateTerm } from "./reward/duplicateTerm.ts";
import { formOutweighs } from "./reward/formOutweighs.ts";
import { successForm } from "./reward/successForm.ts";
import { successBound } from "./reward/successBound.ts";
import { shapedFilter } from "./curriculum/shapedFilter.ts";
import { bandGroup } from "./curriculum/bandGroup.ts";
import { greedyGroup } from "./advantage/greedyGroup.ts";
import { shortLimit } from "./rollout/shortLimit.ts";
import { methodFile } from "./methodFile.ts";
import { missingAnswer } from "./reward/missingAnswer.ts";
import { datasetField } from "./tasks/datasetField.ts";
import { rewardArguments } from "./reward/rewardArguments.ts";
import { curriculumParts } from "./curriculum/curriculumParts.ts";
import { curriculumGap } from "./curriculum/curriculumGap.ts";
import { unsolvedList } from "./stages/unsolvedList.ts";
import { evalOverlap } from "./tasks/evalOverlap.ts";
import { offPolicy } from "./objective/offPolicy.ts";
import { untrainedPolicy } from "./models/untrainedPolicy.ts";
import { untrainedReference } from "./models/untrainedReference.ts";
import { idleChoice } from "./objective/idleChoice.ts";
import { idleClip } from "./objective/idleClip.ts";
import { learningRateBand } from "./objective/learningRateBand.ts";
import { untrainedHead } from "./advantage/untrainedHead.ts";
import { unshownHint } from "./advantage/unshownHint.ts";
import { unusedHead } from "./advantage/unusedHead.ts";
import { unusedModel } from "./models/unusedModel.ts";
import { idleCopy } from "./models/idleCopy.ts";
import { doubleKl } from "./objective/doubleKl.ts";
import { lateWarmup } from "./objective/lateWarmup.ts";
import { frozenPolicy } from "./models/frozenPolicy.ts";
import { idleEnter } from "./stages/idleEnter.ts";
import { routes } from "./objective/routes.ts";
import { idleReplay } from "./objective/idleReplay.ts";
import { failingTasks } from "./curriculum/failingTasks.ts";
import { grownGroups } from "./curriculum/grownGroups.ts";
import { loneArm } from "./curriculum/loneArm.ts";
import { repeatedTask } from "./tasks/repeatedTask.ts";
import { replacedList } from "./replacedList.ts";
import { repeatedStage } from "./stages/repeatedStage.ts";
import { adapterRank } from "./models/adapterRank.ts";
import { longPenalty } from "./reward/longPenalty.ts";
import { learner } from "./models/learner.ts";
import { paidAuthor } from "./models/paidAuthor.ts";
import { lateEvaluation } from "./stages/lateEvaluation.ts";
import { idleAuxiliary } from "./advantage/idleAuxiliary.ts";
import { guidanceModel } from "./guidance/guidanceModel.ts";
import { guidanceNeeds } from "./guidance/guidanceNeeds.ts";
import { guidanceContext } from "./guidance/guidanceContext.ts";
import { guidanceRatio } from "./guidance/guidanceRatio.ts";
import { guidanceIdle } from "./guidance/guidanceIdle.ts";
import { guidanceGroup } from "./guidance/guidanceGroup.ts";
import { guidanceLength } from "./guidance/guidanceLength.ts";
import type { ConfigModel } from "../config/check/model.ts";
import type { Rule } from "./rule.ts";
import { noEnvironment } from "./rollout/noEnvironment.ts";
import { deltaModel } from "./rollout/deltaModel.ts";
import { harness } from "./rollout/harness.ts";
import { searchCorpus } from "./rollout/searchCorpus.ts";
import { unplayed } from "./rollout/unplayed.ts";
import { shapeParts } from "./rollout/shapeParts.ts";
import { shapeTries } from "./rollout/shapeTries.ts";
import { sameOutcome } from "./curriculum/sameOutcome.ts";
import { stageTurns } from "./stages/stageTurns.ts";
import { modelInit } from "./stages/modelInit.ts";
import { stageMerge } from "./stages/stageMerge.ts";
import { stagePairs } from "./stages/stagePairs.ts";
import { stageSolutions } from "./stages/stageSolutions.ts";
import { stageText } from "./stages/stageText.ts";
import { stagePasses } from "./stages/stagePasses.ts";
import { stageKey } from "./stageKey.ts";
import { repeatedPrompt } from "./tasks/repeatedPrompt.ts";
import { splitLeak } from "./tasks/splitLeak.ts";
import { promptLength } from "./tasks/promptLength.ts";
import { scheduleEnd } from "./objective/scheduleEnd.ts";
import { staticNumber } from "./curriculum/staticNumber.ts";
import { taskField } from "./tasks/taskField.ts";
import { taskWeight } from "./curriculum/taskWeight.ts";
import { unusedTerm } from "./reward/unusedTerm.ts";
import { sweepMetric } from "./sweep/sweepMetric.ts";
import { sweepParameter } from "./sweep/sweepParameter.ts";
import { sweepStop } from "./sweep/sweepStop.ts";
import { sweepTrials } from "./sweep/sweepTrials.ts";
import { sweepValue } from "./sweep/sweepValue.ts";

export const rules: readonly Rule[] = [
  needed,
  duplicateName,
  environment,
  branchGroup,
  branchParts,
  branchTokens,
  shapeParts,
  shapeTries,
  noEnvironment,
  unplayed,
  searchCorpus,
  harness,
  deltaModel,
  groupSize,
  advantageNeeds,
  advantageScale,
  band,
  passAt,
  contextLength,
  minTokens,
  grammarRegex,
  modelSize,
  engineParts,
  engineArgs,
  modelFile,
  modelContent,
  modelMemory,
  registeredModel,
  datasetFile,
  rewardFile,
  ownFile,
  pythonReward,
  replayFile,
  replayTerms,
  pastCurriculum,
  methodFile,
  replayBlock,
  auxiliaryBlock,
  learner,
  paidAuthor,
  knownMetric,
  successTerm,
  goldTerm,
  ownProcessTests,
  readTerm,
  idleGamma,
  termTasks,
  unusedTerm,
  scheduleEnd,
  miniBatch,
  condition,
  bestMetric,
  klModel,
  klFull,
  objectiveModel,
  objectiveHead,
  perturbHead,
  taskWeight,
  givenBaseline,
  unreachableStage,
  untilRange,
  untilWindow,
  zeroWeight,
  duplicateTerm,
  formOutweighs,
  successForm,
  successBound,
  shapedFilter,
  auxiliaryDecides,
  emptyAnswer,
  bandGroup,
  greedyGroup,
  sameOutcome,
  shortLimit,
  missingAnswer,
  datasetField,
  repeatedPrompt,
  splitLeak,
  promptLength,
  taskField,
  rewardArguments,
  curriculumParts,
  armsBox,
  staticNumber,
  curriculumGap,
  evalOverlap,
  unsolvedList,
  offPolicy,
  untrainedPolicy,
  untrainedReference,
  idleClip,
  learningRateBand,
  untrainedHead,
  unusedHead,
  unusedModel,
  idleCopy,
  doubleKl,
  lateWarmup,
  frozenPolicy,
  idleEnter,
  routes,
  unshownHint,
  idleReplay,
  idleChoice,
  loneArm,
  failingTasks,
  grownGroups,
  generateParts,
  repeatedTask,
  replacedList,
  repeatedStage,
  adapterRank,
  longPenalty,
  lateEvaluation,
  idleAuxiliary,
  oneTurn,
  stageTurns,
  stageMerge,
  modelInit,
  stagePairs,
  stageSolutions,
  stageText,
  stagePasses,
  stageKey,
  guidanceModel,
  guidanceNeeds,
  guidanceContext,
  guidanceRatio,
  guidanceIdle,
  guidanceGroup,
  guidanceLength,
  sweepParameter,
  sweepTrials,
  sweepMetric,
  sweepStop,
  sweepValue,
];

/** Those that still matter when the rollouts exist already: how they are made, and with what model, does not. */
const rulesOnRecorded: readonly Rule[] = [duplicateName, band, successTerm, klModel, klFull, objectiveModel];

/** `before` is called before each rule. */
export function checkRules(model: ConfigModel, recorded = false, before?: (rule: Rule) => void): void {
  for (const rule of recorded ? rulesOnRecorded : rules) {
    before?.(rule);
    rule.check(model);
  }
}
