import type { Declaration } from "../config/declaration.ts";
import { written } from "./written.ts";

export const masks: readonly Declaration<"mask">[] = [written];
