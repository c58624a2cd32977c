import type { Declaration } from "../../core/declaration.ts";
import { abs } from "./abs.ts";
import { full } from "./full.ts";
import { jsd } from "./jsd.ts";
import { k1 } from "./k1.ts";
import { k2 } from "./k2.ts";
import { k3 } from "./k3.ts";

export const klEstimators: readonly Declaration<"kl">[] = [k1, k2, k3, abs, full, jsd];
