/** The objectives besides the surrogates: regressions of log-ratios, pairs, weighted likelihood, rankings, values. */
import type { Declaration } from "../../core/declaration.ts";
import { advantageWeighted } from "./likelihoods/advantageWeighted.ts";
import { alol } from "./likelihoods/alol.ts";
import { aot } from "./pairs/aot.ts";
import { apo } from "./pairs/apo.ts";
import { bco } from "./pairs/bco.ts";
import { bradleyTerry } from "./pairs/bradleyTerry.ts";
import { brain } from "./regressions/brain.ts";
import { copg } from "./regressions/copg.ts";
import { directAdvantage } from "./regressions/directAdvantage.ts";
import { dpg } from "./likelihoods/dpg.ts";
import { dpo } from "./pairs/dpo.ts";
import { dqo } from "./regressions/dqo.ts";
import { exo } from "./pairs/exo.ts";
import { filteredLikelihood } from "./likelihoods/filteredLikelihood.ts";
import { ilql } from "./values/ilql.ts";
import { ipo } from "./pairs/ipo.ts";
import { kto } from "./pairs/kto.ts";
import { logRatioRegression } from "./regressions/logRatioRegression.ts";
import { nca } from "./pairs/nca.ts";
import { nft } from "./likelihoods/nft.ts";
import { oreo } from "./regressions/oreo.ts";
import { orpo } from "./pairs/orpo.ts";
import { outcomeCrossEntropy } from "./values/outcomeCrossEntropy.ts";
import { pacs } from "./likelihoods/pacs.ts";
import { pear } from "./likelihoods/pear.ts";
import { refuel } from "./regressions/refuel.ts";
import { rover } from "./regressions/rover.ts";
import { rrhf } from "./pairs/rrhf.ts";
import { softQ } from "./regressions/softQ.ts";
import { sppo } from "./pairs/sppo.ts";
import { tokenQ } from "./values/tokenQ.ts";
import { turnCritic } from "./values/turnCritic.ts";
import { valueClipped } from "./values/valueClipped.ts";
import { valueCrossEntropy } from "./values/valueCrossEntropy.ts";
import { valueExpectile } from "./values/valueExpectile.ts";
import { weightedLikelihood } from "./likelihoods/weightedLikelihood.ts";

export const families: readonly Declaration<"objective">[] = [
  logRatioRegression,
  directAdvantage,
  copg,
  ipo,
  refuel,
  oreo,
  dqo,
  softQ,
  dpo,
  exo,
  nca,
  bco,
  sppo,
  apo,
  aot,
  orpo,
  kto,
  filteredLikelihood,
  advantageWeighted,
  weightedLikelihood,
  pear,
  alol,
  rrhf,
  valueClipped,
  valueCrossEntropy,
  valueExpectile,
  ilql,
  tokenQ,
  turnCritic,
  bradleyTerry,
  outcomeCrossEntropy,
  nft,
  pacs,
  rover,
  brain,
  dpg,
];
