import type { Claim } from "../claim.ts";
import { balancedFiltering } from "./balancedFiltering.ts";
import { drive } from "./drive.ts";
import { dump } from "./dump.ts";
import { gainRl } from "./gainRl.ts";
import { ghpo } from "./ghpo.ts";
import { pcl } from "./pcl.ts";
import { reverseStarts } from "./reverseStarts.ts";
import { sec } from "./sec.ts";

export const claims: readonly Claim[] = [
  sec,
  dump,
  pcl,
  balancedFiltering,
  gainRl,
  ghpo,
  reverseStarts,
  drive,
];
