import type { Declaration } from "../../core/declaration.ts";
import { equation } from "./equation.ts";
import { exactMatch } from "./exactMatch.ts";
import { format } from "./format.ts";
import { implicitPrm } from "./models/implicitPrm.ts";
import { length } from "./length.ts";
import { numeric } from "./numeric.ts";
import { product } from "./product.ts";
import { progress } from "./progress.ts";
import { python } from "./own/python.ts";
import { informationGain } from "./models/informationGain.ts";
import { referenceProbability } from "./models/referenceProbability.ts";
import { rewardModel } from "./models/rewardModel.ts";
import { rubric } from "./rubric/rubric.ts";
import { segmentMatch } from "./segmentMatch.ts";
import { sum } from "./sum.ts";
import { tiers } from "./tiers.ts";
import { verdict } from "./verdict.ts";
import { user } from "./own/user.ts";

/** `use: PATH[:export]` in the config chooses `user` (.ts, .mts, .js, .mjs) or `python` (.py), with `file` and `export` filled in. */
export const rewardTerms: readonly Declaration<"reward">[] = [
  equation,
  exactMatch,
  numeric,
  format,
  length,
  rewardModel,
  informationGain,
  referenceProbability,
  segmentMatch,
  rubric,
  verdict,
  implicitPrm,
  user,
  python,
];
export const combiners: readonly Declaration<"combine">[] = [sum, product, progress, tiers];
