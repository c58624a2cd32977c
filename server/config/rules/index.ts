import { advantageNeeds } from "./advantageNeeds.ts";
import { advantageScale } from "./advantageScale.ts";
import { auxiliaryDecides } from "./auxiliaryDecides.ts";
import { band } from "./band.ts";
import { bestMetric } from "./bestMetric.ts";
import { branchGroup } from "./branchGroup.ts";
import { branchParts } from "./branchParts.ts";
import { branchTokens } from "./branchTokens.ts";
import { condition } from "./conditions.ts";
import { contextLength } from "./contextLength.ts";
import { emptyAnswer } from "./emptyAnswer.ts";
import { environment } from "./environments.ts";
import { datasetFile } from "./datasetFile.ts";
import { modelContent } from "./modelContent.ts";
import { modelFile } from "./modelFile.ts";
import { modelMemory } from "./modelMemory.ts";
import { pythonReward } from "./pythonReward.ts";
import { rewardFile } from "./rewardFile.ts";
import { grammarRegex } from "./grammarRegex.ts";
import { groupSize } from "./groupSize.ts";
import { generateParts } from "./generateParts.ts";
import { givenBaseline } from "./givenBaseline.ts";
import { klFull } from "./klFull.ts";
import { klModel } from "./klModel.ts";
import { knownMetric } from "./knownNames.ts";
import { miniBatch } from "./miniBatch.ts";
import { minTokens } from "./minTokens.ts";
import { modelSize } from "./modelSize.ts";
import { duplicateName } from "./duplicateName.ts";
import { successTerm } from "./successTerm.ts";
import { termTasks } from "./termTasks.ts";
import { registeredModel } from "./models.ts";
import { needed } from "./needed.ts";
import { oneTurn } from "./oneTurn.ts";
import { objectiveHead } from "./objectiveHead.ts";
import { perturbHead } from "./perturbHead.ts";
import { objectiveModel } from "./objectiveModel.ts";
import { passAt } from "./passAt.ts";
import { armsBox } from "./armsBox.ts";
import { auxiliaryBlock } from "./auxiliaryBlock.ts";
import { replayBlock } from "./replayBlock.ts";
import { pastCurriculum } from "./pastCurriculum.ts";
import { replayFile } from "./replayFile.ts";
import { replayTerms } from "./replayTerms.ts";
import { unreachableStage } from "./unreachableStage.ts";
import { untilRange } from "./untilRange.ts";
import { untilWindow } from "./untilWindow.ts";
import { zeroWeight } from "./zeroWeight.ts";
import { duplicateTerm } from "./duplicateTerm.ts";
import { formOutweighs } from "./formOutweighs.ts";
import { successForm } from "./successForm.ts";
import { successBound } from "./successBound.ts";
import { shapedFilter } from "./shapedFilter.ts";
import { bandGroup } from "./bandGroup.ts";
import { greedyGroup } from "./greedyGroup.ts";
import { shortLimit } from "./shortLimit.ts";
import { methodFile } from "./methodFile.ts";
import { missingAnswer } from "./missingAnswer.ts";
import { datasetField } from "./datasetField.ts";
import { rewardArguments } from "./rewardArguments.ts";
import { curriculumParts } from "./curriculumParts.ts";
import { curriculumGap } from "./curriculumGap.ts";
import { evalOverlap } from "./evalOverlap.ts";
import { offPolicy } from "./offPolicy.ts";
import { untrainedReference } from "./untrainedReference.ts";
import { idleChoice } from "./idleChoice.ts";
import { idleClip } from "./idleClip.ts";
import { learningRateBand } from "./learningRateBand.ts";
import { untrainedHead } from "./untrainedHead.ts";
import { unusedHead } from "./unusedHead.ts";
import { unusedModel } from "./unusedModel.ts";
import { idleCopy } from "./idleCopy.ts";
import { doubleKl } from "./doubleKl.ts";
import { lateWarmup } from "./lateWarmup.ts";
import { frozenPolicy } from "./frozenPolicy.ts";
import { idleEnter } from "./idleEnter.ts";
import { routes } from "./routes.ts";
import { idleReplay } from "./idleReplay.ts";
import { failingTasks } from "./failingTasks.ts";
import { loneArm } from "./loneArm.ts";
import { repeatedTask } from "./repeatedTask.ts";
import { replacedList } from "./replacedList.ts";
import { repeatedStage } from "./repeatedStage.ts";
import { adapterRank } from "./adapterRank.ts";
import { longPenalty } from "./longPenalty.ts";
import { learner } from "./learner.ts";
import { lateEvaluation } from "./lateEvaluation.ts";
import { idleAuxiliary } from "./idleAuxiliary.ts";
import { guidanceModel } from "./guidanceModel.ts";
import { guidanceNeeds } from "./guidanceNeeds.ts";
import { guidanceContext } from "./guidanceContext.ts";
import { guidanceRatio } from "./guidanceRatio.ts";
import { guidanceIdle } from "./guidanceIdle.ts";
import { guidanceGroup } from "./guidanceGroup.ts";
import { guidanceLength } from "./guidanceLength.ts";
import type { ConfigModel, Rule } from "./rule.ts";
import { shapeParts } from "./shapeParts.ts";
import { shapeTries } from "./shapeTries.ts";
import { sameOutcome } from "./sameOutcome.ts";
import { stageTurns } from "./stageTurns.ts";
import { stageMerge } from "./stageMerge.ts";
import { stagePairs } from "./stagePairs.ts";
import { stageText } from "./stageText.ts";
import { stagePasses } from "./stagePasses.ts";
import { stageKey } from "./stageKey.ts";
import { scheduleEnd } from "./scheduleEnd.ts";
import { staticNumber } from "./staticNumber.ts";
import { taskField } from "./taskField.ts";
import { taskWeight } from "./taskWeight.ts";
import { unusedTerm } from "./unusedTerm.ts";

export const rules: readonly Rule[] = [
  needed,
  duplicateName,
  environment,
  branchGroup,
  branchParts,
  branchTokens,
  shapeParts,
  shapeTries,
  groupSize,
  advantageNeeds,
  advantageScale,
  band,
  passAt,
  contextLength,
  minTokens,
  grammarRegex,
  modelSize,
  modelFile,
  modelContent,
  modelMemory,
  registeredModel,
  datasetFile,
  rewardFile,
  pythonReward,
  replayFile,
  replayTerms,
  pastCurriculum,
  methodFile,
  replayBlock,
  auxiliaryBlock,
  learner,
  knownMetric,
  successTerm,
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
  taskField,
  rewardArguments,
  curriculumParts,
  armsBox,
  staticNumber,
  curriculumGap,
  evalOverlap,
  offPolicy,
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
  idleReplay,
  idleChoice,
  loneArm,
  failingTasks,
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
  stagePairs,
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
