import type { Declaration } from "../../../core/declaration.ts";
import { environment } from "./environment.ts";
import { multiAttempt } from "./multiAttempt.ts";
import { selfCorrect } from "./selfCorrect.ts";
import { single } from "./single.ts";

export const episodeShapes: readonly Declaration<"episode_shape">[] = [
  single,
  multiAttempt,
  selfCorrect,
  environment,
];
