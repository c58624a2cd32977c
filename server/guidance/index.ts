import type { Declaration } from "../config/declaration.ts";

export const guidances: readonly Declaration<"guidance">[] = [];
