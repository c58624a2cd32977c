import type { Declaration } from "../../core/declaration.ts";
import { calculator } from "./calculator.ts";
import { code } from "./code.ts";
import { mcp } from "./mcp.ts";
import { python } from "./python.ts";
import { search } from "./search.ts";
import { simulatedSearch } from "./simulatedSearch.ts";
import { sql } from "./sql.ts";
import { user } from "./user.ts";

/** What `rollout.tools` may list; `PATH[:name]` chooses `user` or `python` by the file's name. */
export const tools: readonly Declaration<"tool">[] = [
  search,
  simulatedSearch,
  calculator,
  code,
  sql,
  mcp,
  user,
  python,
];
