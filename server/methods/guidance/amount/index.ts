import type { Declaration } from "../../../core/declaration.ts";
import { fixed } from "./fixed.ts";
import { groupGradient } from "./groupGradient.ts";
import { irt } from "./irt.ts";
import { ladder } from "./ladder.ts";
import { levels } from "./levels.ts";
import { uniform } from "./uniform.ts";

export const guidanceAmounts: readonly Declaration<"guidance_amount">[] = [
  fixed,
  ladder,
  uniform,
  levels,
  groupGradient,
  irt,
];
