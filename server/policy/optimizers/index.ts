import type { Declaration } from "../../config/declaration.ts";

export const optimizers: readonly Declaration<"optimizer">[] = [];
