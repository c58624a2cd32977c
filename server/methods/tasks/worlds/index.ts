/** Worlds in text: tasks that are played over turns. */
import type { Declaration } from "../../../core/declaration.ts";
import { gridWorld } from "./gridWorld.ts";
import { guessNumber } from "./guessNumber.ts";
import { market } from "./market.ts";
import { maze } from "./maze.ts";
import { programEquivalence } from "./programEquivalence.ts";
import { twentyQuestions } from "./twentyQuestions.ts";

export const worlds: readonly Declaration<"task">[] = [
  gridWorld,
  guessNumber,
  twentyQuestions,
  maze,
  market,
  programEquivalence,
];
