import type { Declaration } from "../../config/declaration.ts";
import { adamw } from "./adamw.ts";

export const optimizers: readonly Declaration<"optimizer">[] = [adamw];
