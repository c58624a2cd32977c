import type { Declaration } from "../../core/declaration.ts";
import { arithmetic } from "./arithmetic.ts";
import { corpus } from "./corpus.ts";
import { countdown } from "./countdown.ts";
import { dataset } from "./dataset.ts";
import { harbor } from "./harbor/harbor.ts";
import { made } from "./made.ts";
import { bandit } from "./pack/bandit.ts";
import { facts } from "./pack/facts.ts";
import { render } from "./pack/render.ts";
import { stringComposition } from "./pack/stringComposition.ts";
import { surface } from "./pack/surface.ts";
import { tables } from "./pack/tables.ts";
import { reasoningGym } from "./reasoningGym/reasoningGym.ts";
import { reverseText } from "./reverseText.ts";
import { worlds } from "./worlds/index.ts";

/** `env: NAME` in the config chooses one by name; `dataset: PATH`, `corpus: PATH`, `harbor: PATH` and `generate: …` choose by their key. */
export const taskSources: readonly Declaration<"task">[] = [
  countdown,
  arithmetic,
  reverseText,
  stringComposition,
  surface,
  render,
  bandit,
  facts,
  tables,
  ...worlds,
  reasoningGym,
  dataset,
  corpus,
  harbor,
  made,
];
