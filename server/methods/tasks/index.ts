import type { Declaration } from "../../core/declaration.ts";
import { arithmetic } from "./arithmetic.ts";
import { corpus } from "./corpus.ts";
import { countdown } from "./countdown.ts";
import { dataset } from "./dataset.ts";
import { made } from "./made.ts";
import { reasoningGym } from "./reasoningGym/reasoningGym.ts";
import { reverseText } from "./reverseText.ts";
import { worlds } from "./worlds/index.ts";

/** `env: NAME` in the config chooses one by name; `dataset: PATH`, `corpus: PATH` and `generate: …` choose by their key. */
export const taskSources: readonly Declaration<"task">[] = [
  countdown,
  arithmetic,
  reverseText,
  ...worlds,
  reasoningGym,
  dataset,
  corpus,
  made,
];
