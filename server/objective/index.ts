import type { Declaration } from "../config/declaration.ts";
import { cispo } from "./cispo.ts";
import { clipCov } from "./clipCov.ts";
import { clipped } from "./clipped.ts";
import { dppoKl } from "./dppoKl.ts";
import { dppoTv } from "./dppoTv.ts";
import { dro } from "./dro.ts";
import { geoMean } from "./geoMean.ts";
import { families } from "./families.ts";
import { klCov } from "./klCov.ts";
import { reinforce } from "./reinforce.ts";
import { sapo } from "./sapo.ts";
import { sequenceMean } from "./sequenceMean.ts";
import { sequenceSum } from "./sequenceSum.ts";
import { sequenceSumNorm } from "./sequenceSumNorm.ts";
import { tokenBudget } from "./tokenBudget.ts";
import { tokenMean } from "./tokenMean.ts";
import { tokenSum } from "./tokenSum.ts";
import { vespo } from "./vespo.ts";

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
  ...families,
];
export const aggregates: readonly Declaration<"aggregate">[] = [
  sequenceMean,
  tokenMean,
  sequenceSum,
  sequenceSumNorm,
  tokenSum,
  tokenBudget,
];
