/** The folder of a checkout, or of an unpacked package, that this program runs in: it holds bin/ and scripts/. */
import { existsSync } from "node:fs";
import { dirname, join, parse } from "node:path";
import { fileURLToPath } from "node:url";
import { engineCommand } from "../../shared/lib/systemWords.mjs";

/** Undefined where set-up did not come along. */
export function homeFolder(): string | undefined {
  const here = dirname(fileURLToPath(import.meta.url));
  for (let folder = here; folder !== parse(folder).root; folder = dirname(folder))
    if (existsSync(join(folder, "scripts", "setup.mjs"))) return folder;
  return undefined;
}

/** What installs the engine here. */
export const engineFix = (): string => engineCommand(homeFolder());
