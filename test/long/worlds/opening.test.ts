/** A tiny policy learns to use a tool. */
import { objectHost } from "../../support/objectHost.ts";
import { isLearned, opening } from "./worlds.ts";

await objectHost();
isLearned("opening", opening);
