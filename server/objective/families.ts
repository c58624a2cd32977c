/** The objectives beside the surrogates: regressions of log-ratios, pairs, weighted likelihood, rankings, values. */
import type { Declaration } from "../config/declaration.ts";
import { advantageWeighted } from "./advantageWeighted.ts";
import { alol } from "./alol.ts";
import { aot } from "./aot.ts";
import { apo } from "./apo.ts";
import { bco } from "./bco.ts";
import { bradleyTerry } from "./bradleyTerry.ts";
import { brain } from "./brain.ts";
import { copg } from "./copg.ts";
import { directAdvantage } from "./directAdvantage.ts";
import { dpg } from "./dpg.ts";
import { dpo } from "./dpo.ts";
import { dqo } from "./dqo.ts";
import { exo } from "./exo.ts";
import { filteredLikelihood } from "./filteredLikelihood.ts";
import { ilql } from "./ilql.ts";
import { ipo } from "./ipo.ts";
import { kto } from "./kto.ts";
import { logRatioRegression } from "./logRatioRegression.ts";
import { nca } from "./nca.ts";
import { nft } from "./nft.ts";
import { oreo } from "./oreo.ts";
import { orpo } from "./orpo.ts";
import { outcomeCrossEntropy } from "./outcomeCrossEntropy.ts";
import { pacs } from "./pacs.ts";
import { pear } from "./pear.ts";
import { refuel } from "./refuel.ts";
import { rover } from "./rover.ts";
import { rrhf } from "./rrhf.ts";
import { sppo } from "./sppo.ts";
import { tokenQ } from "./tokenQ.ts";
import { turnCritic } from "./turnCritic.ts";
import { valueClipped } from "./valueClipped.ts";
import { valueCrossEntropy } from "./valueCrossEntropy.ts";
import { valueExpectile } from "./valueExpectile.ts";
import { weightedLikelihood } from "./weightedLikelihood.ts";

export const families: readonly Declaration<"objective">[] = [
  logRatioRegression,
  directAdvantage,
  copg,
  ipo,
  refuel,
  oreo,
  dqo,
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
