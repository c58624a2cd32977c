import type { Declaration } from "../../core/declaration.ts";
import { mask } from "./mask.ts";
import { reject } from "./reject.ts";
import { truncate } from "./truncate.ts";

export const corrections: readonly Declaration<"correction">[] = [truncate, mask, reject];
