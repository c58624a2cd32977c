import type { Declaration } from "../../core/declaration.ts";
import { adafactor } from "./adafactor.ts";
import { adamw } from "./adamw.ts";
import { lion } from "./lion.ts";
import { sgd } from "./sgd.ts";

export const optimizers: readonly Declaration<"optimizer">[] = [adamw, adafactor, lion, sgd];
