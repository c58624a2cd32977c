import type { Declaration } from "../../../core/declaration.ts";
import { demonstration } from "./demonstration.ts";
import { feedback } from "./feedback.ts";
import { guide } from "./guide.ts";
import { hint } from "./hint.ts";
import { instruction } from "./instruction.ts";
import { probe } from "./probe.ts";
import { reformulate } from "./reformulate.ts";
import { rubric } from "./rubric.ts";
import { solution } from "./solution.ts";
import { teacher } from "./teacher.ts";

export const guidanceSources: readonly Declaration<"guidance_source">[] = [
  solution,
  demonstration,
  hint,
  rubric,
  reformulate,
  teacher,
  guide,
  feedback,
  probe,
  instruction,
];
