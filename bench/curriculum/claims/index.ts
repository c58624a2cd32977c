import type { Claim } from "../claim.ts";
import { balancedFiltering } from "./balancedFiltering.ts";
import { cispo, clipHigher } from "./clipping.ts";
import { drive } from "./drive.ts";
import { dump } from "./dump.ts";
import { dynamicSampling, mopps } from "./dynamicSampling.ts";
import { gainRl } from "./gainRl.ts";
import { ghpo } from "./ghpo.ts";
import { negativeAgainstPositive, negativeReinforcement, passkTraining } from "./passAtK.ts";
import { pcl } from "./pcl.ts";
import { reverseStarts } from "./reverseStarts.ts";
import { samplers } from "./samplers.ts";
import { sec } from "./sec.ts";

export const claims: readonly Claim[] = [
  sec,
  dump,
  pcl,
  balancedFiltering,
  gainRl,
  ghpo,
  reverseStarts,
  drive,
  ...samplers,
  negativeReinforcement,
  negativeAgainstPositive,
  passkTraining,
  clipHigher,
  dynamicSampling,
  cispo,
  mopps,
];
