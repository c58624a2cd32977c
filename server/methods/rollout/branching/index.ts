import type { Declaration } from "../../../core/declaration.ts";
import { none } from "./none.ts";
import { topEntropy } from "./topEntropy.ts";
import { treeSearch } from "./treeSearch.ts";
import { uniform } from "./uniform.ts";

export const branchings: readonly Declaration<"branching">[] = [none, topEntropy, uniform, treeSearch];
