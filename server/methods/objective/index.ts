import type { Declaration } from "../../core/declaration.ts";
import { cispo } from "./surrogates/cispo.ts";
import { clipCov } from "./surrogates/clipCov.ts";
import { clipped } from "./surrogates/clipped.ts";
import { dppoKl } from "./surrogates/dppoKl.ts";
import { dppoTv } from "./surrogates/dppoTv.ts";
import { dro } from "./surrogates/dro.ts";
import { geoMean } from "./surrogates/geoMean.ts";
import { families } from "./families.ts";
import { klCov } from "./surrogates/klCov.ts";
import { promptMean } from "./aggregates/promptMean.ts";
import { reinforce } from "./surrogates/reinforce.ts";
import { sapo } from "./surrogates/sapo.ts";
import { secondMoment } from "./surrogates/secondMoment.ts";
import { sequenceMean } from "./aggregates/sequenceMean.ts";
import { sequenceSum } from "./aggregates/sequenceSum.ts";
import { sequenceSumNorm } from "./aggregates/sequenceSumNorm.ts";
import { tokenBudget } from "./aggregates/tokenBudget.ts";
import { tokenMean } from "./aggregates/tokenMean.ts";
import { tokenSum } from "./aggregates/tokenSum.ts";
import { vespo } from "./surrogates/vespo.ts";

export const objectives: readonly Declaration<"objective">[] = [
  clipped,
  reinforce,
  cispo,
  sapo,
  geoMean,
  clipCov,
  klCov,
  dppoTv,
  dppoKl,
  dro,
  vespo,
  secondMoment,
  ...families,
];
export const aggregates: readonly Declaration<"aggregate">[] = [
  sequenceMean,
  tokenMean,
  sequenceSum,
  sequenceSumNorm,
  tokenSum,
  tokenBudget,
  promptMean,
];
