import type { Declaration } from "../../core/declaration.ts";
import { agreement } from "./models/agreement.ts";
import { answerProgress } from "./models/answerProgress.ts";
import { stateProgress } from "./models/stateProgress.ts";
import { phraseEntropy } from "./text/phraseEntropy.ts";
import { abstain } from "./calibration/abstain.ts";
import { boostIfLow } from "./calibration/boostIfLow.ts";
import { brier } from "./calibration/brier.ts";
import { flip } from "./calibration/flip.ts";
import { ellipticalBonus } from "./models/ellipticalBonus.ts";
import { effort } from "./effort.ts";
import { environment } from "./environment.ts";
import { equation } from "./equation.ts";
import { exactMatch } from "./exactMatch.ts";
import { format } from "./format.ts";
import { implicitPrm } from "./models/implicitPrm.ts";
import { length } from "./length.ts";
import { judge } from "./judges/judge.ts";
import { judgeList } from "./judges/judgeList.ts";
import { judgeLogit } from "./judges/judgeLogit.ts";
import { judgePairs } from "./judges/judgePairs.ts";
import { judgeSentences } from "./judges/judgeSentences.ts";
import { rankAgreement } from "./judges/rankAgreement.ts";
import { math } from "./maths/math.ts";
import { numeric } from "./numeric.ts";
import { gate } from "./combine/gate.ts";
import { max } from "./combine/max.ts";
import { pessimism } from "./combine/pessimism.ts";
import { product } from "./combine/product.ts";
import { progress } from "./combine/progress.ts";
import { renorm } from "./combine/renorm.ts";
import { softMin } from "./combine/softMin.ts";
import { sum } from "./combine/sum.ts";
import { tiers } from "./combine/tiers.ts";
import { veto } from "./combine/veto.ts";
import { python } from "./own/python.ts";
import { informationGain } from "./models/informationGain.ts";
import { labelGap } from "./models/labelGap.ts";
import { lengthVsReference } from "./models/lengthVsReference.ts";
import { nearSuccess } from "./models/nearSuccess.ts";
import { referenceProbability } from "./models/referenceProbability.ts";
import { reasoningGymTerm } from "./reasoningGym.ts";
import { tokenRewriter } from "./models/tokenRewriter.ts";
import { prefixValue } from "./process/prefixValue.ts";
import { treeValue } from "./process/treeValue.ts";
import { rankPenalty } from "./process/rankPenalty.ts";
import { toolUse } from "./process/toolUse.ts";
import { process } from "./process/process.ts";
import { render } from "./render.ts";
import { remoteRm } from "./remote/remoteRm.ts";
import { rewardModel } from "./models/rewardModel.ts";
import { rubric } from "./rubric/rubric.ts";
import { segmentMatch } from "./segmentMatch.ts";
import { patchSimilarity } from "./text/patchSimilarity.ts";
import { phrases } from "./text/phrases.ts";
import { repetition } from "./text/repetition.ts";
import { textOverlap } from "./text/textOverlap.ts";
import { verdict } from "./verdict.ts";
import { tableMatch } from "./code/tableMatch.ts";
import { unitTests } from "./code/unitTests.ts";
import { user } from "./own/user.ts";

/** `use: PATH[:export]` in the config chooses `user` (.ts, .mts, .js, .mjs) or `python` (.py), with `file` and `export` filled in. */
export const rewardTerms: readonly Declaration<"reward">[] = [
  equation,
  exactMatch,
  numeric,
  math,
  format,
  length,
  effort,
  lengthVsReference,
  toolUse,
  repetition,
  phrases,
  rewardModel,
  remoteRm,
  informationGain,
  referenceProbability,
  labelGap,
  segmentMatch,
  textOverlap,
  patchSimilarity,
  brier,
  abstain,
  flip,
  boostIfLow,
  rubric,
  judge,
  judgeLogit,
  judgePairs,
  judgeList,
  judgeSentences,
  rankAgreement,
  verdict,
  implicitPrm,
  unitTests,
  tableMatch,
  tokenRewriter,
  process,
  prefixValue,
  treeValue,
  nearSuccess,
  rankPenalty,
  ellipticalBonus,
  stateProgress,
  answerProgress,
  agreement,
  phraseEntropy,
  user,
  python,
  environment,
  reasoningGymTerm,
  render,
];
export const combiners: readonly Declaration<"combine">[] = [
  sum,
  product,
  progress,
  tiers,
  gate,
  max,
  softMin,
  pessimism,
  veto,
  renorm,
];
