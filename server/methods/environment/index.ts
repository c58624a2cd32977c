import type { Declaration } from "../../core/declaration.ts";
import { openenv } from "./openenv.ts";
import { python } from "./python.ts";
import { user } from "./user.ts";

/** What may be written as `play` of a task; `play: PATH[:export]` chooses `user` or `python` by the file's name. */
export const environments: readonly Declaration<"environment">[] = [user, python, openenv];
