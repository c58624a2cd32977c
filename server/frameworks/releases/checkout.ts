/** A checkout of a framework itself: its own scripts run its sources, whatever else is installed. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Framework } from "../text/document.ts";
import { statsOf } from "../../lib/inputFile.ts";

/** Where each keeps its release; TRL before 1.0 in its package's first file. */
const releaseFiles: Readonly<Record<Framework, readonly string[]>> = {
  verl: ["verl/version/version"],
  trl: ["VERSION", "trl/__init__.py"],
  openrlhf: ["version.txt"],
};

/** The release that a folder is a checkout of (`0.9.0`, `1.10.0.dev0`); undefined if it is not one. */
export function checkoutVersion(folder: string, framework: Framework): string | undefined {
  if (!existsSync(join(folder, framework, "__init__.py"))) return undefined;
  if (!existsSync(join(folder, "pyproject.toml")) && !existsSync(join(folder, "setup.py"))) return undefined;
  return releaseFiles[framework]
    .map((name) => join(folder, name))
    .filter((path) => statsOf(path)?.isFile() === true)
    .map((path) => /^(?:__version__ = ")?(\d+\.\d+[\w.]*)/m.exec(readFileSync(path, "utf8"))?.[1])
    .find((version) => version !== undefined);
}
