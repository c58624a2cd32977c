import type { Declaration } from "../../../core/declaration.ts";
import { imitation } from "./imitation.ts";
import { mixture } from "./mixture.ts";
import { multipleImportance } from "./multipleImportance.ts";
import { recomputed } from "./recomputed.ts";
import { sameContext } from "./sameContext.ts";
import { shaped } from "./shaped.ts";
import { trueBehaviour } from "./trueBehaviour.ts";

export const guidanceRatios: readonly Declaration<"guidance_ratio">[] = [
  sameContext,
  trueBehaviour,
  recomputed,
  shaped,
  imitation,
  multipleImportance,
  mixture,
];
