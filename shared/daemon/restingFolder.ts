import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { parse } from "node:path";

/**
 * Where a process works that has no folder of its own: Windows removes no folder in which one works, a store neither, and looks for
 * programs there first, so it is one that nobody copies from elsewhere.
 */
export const restingFolder = (home = homedir()): string =>
  existsSync(home) ? home : parse(process.execPath).root;
