import type { Declaration } from "../../../core/declaration.ts";
import { allFail } from "./allFail.ts";
import { always } from "./always.ts";
import { fraction } from "./fraction.ts";
import { none } from "./none.ts";
import { wrong } from "./wrong.ts";

export const guidanceTriggers: readonly Declaration<"guidance_trigger">[] = [
  none,
  always,
  fraction,
  wrong,
  allFail,
];
