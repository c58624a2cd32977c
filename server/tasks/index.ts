import type { Declaration } from "../config/declaration.ts";
import { arithmetic } from "./arithmetic.ts";
import { countdown } from "./countdown.ts";
import { dataset } from "./dataset.ts";
import { reverseText } from "./reverseText.ts";

/** `env: NAME` in the config chooses one by name; `dataset: PATH` chooses `dataset`. */
export const taskSources: readonly Declaration<"task">[] = [countdown, arithmetic, reverseText, dataset];
