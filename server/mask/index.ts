import type { Declaration } from "../config/declaration.ts";

export const masks: readonly Declaration<"mask">[] = [];
