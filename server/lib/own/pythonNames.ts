/** Under which names a Python is found, by system. */
import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { statsOf } from "../inputFile.ts";

/** On PATH, in this order. Windows' launcher knows of no environment that is active, so it comes last there. */
export const pythonNames = (platform = process.platform): readonly string[] =>
  platform === "win32" ? ["python", "python3", "py"] : ["python3", "python"];

/** Of a virtual environment, and of one that conda made. */
export const pythonsInside = (environment: string, platform = process.platform): readonly string[] =>
  platform === "win32"
    ? [join(environment, "Scripts", "python.exe"), join(environment, "python.exe")]
    : [join(environment, "bin", "python")];

/** Windows comes with a `python.exe` of no bytes that only opens the Store. Next to one that the Store has installed is its folder. */
export function isPlaceholder(path: string): boolean {
  const folder = dirname(path);
  if (basename(folder) !== "WindowsApps" || statsOf(path)?.size !== 0) return false;
  return !readdirSync(folder).some((name) => name.startsWith("PythonSoftwareFoundation."));
}
