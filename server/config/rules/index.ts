import { advantageNeeds, advantageScale } from "./advantage.ts";
import { band } from "./band.ts";
import { bestMetric } from "./bestMetric.ts";
import { condition } from "./conditions.ts";
import { contextLength } from "./contextLength.ts";
import { environment } from "./environments.ts";
import { datasetFile, modelFile, rewardFile } from "./files.ts";
import { grammarRegex } from "./grammarRegex.ts";
import { groupSize } from "./groupSize.ts";
import { givenBaseline, klFull, klModel } from "./kl.ts";
import { knownMetric } from "./knownNames.ts";
import { miniBatch } from "./miniBatch.ts";
import { minTokens } from "./minTokens.ts";
import { modelSize } from "./modelSize.ts";
import { duplicateName, successTerm, termTasks } from "./names.ts";
import { registeredModel } from "./models.ts";
import { needed } from "./needed.ts";
import { objectiveHead, objectiveModel } from "./objective.ts";
import { passAt } from "./passAt.ts";
import type { ConfigModel, Rule } from "./rule.ts";
import { scheduleEnd } from "./scheduleEnd.ts";
import { taskWeight } from "./taskWeight.ts";
import { unusedTerm } from "./unusedTerm.ts";

export const rules: readonly Rule[] = [
  needed,
  duplicateName,
  environment,
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
  registeredModel,
  datasetFile,
  rewardFile,
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
  taskWeight,
  givenBaseline,
];

/** Those that still matter when the rollouts exist already: how they are made, and with what model, does not. */
const rulesOnRecorded: readonly Rule[] = [duplicateName, band, successTerm, klModel, klFull, objectiveModel];

export function checkRules(model: ConfigModel, recorded = false): void {
  for (const rule of recorded ? rulesOnRecorded : rules) rule.check(model);
}
