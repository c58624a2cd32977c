/** The set-up scripts: they run before anything is bundled, and are loaded from their own files. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { UserError } from "../../../shared/lib/errors.ts";
import { homeFolder } from "../../lib/natives.ts";

/** The folder `scripts` next to this program, in a checkout and in an unpacked package alike. @throws UserError */
export function setupScripts(): string {
  const home = homeFolder();
  if (home !== undefined) return join(home, "scripts");
  const here = fileURLToPath(import.meta.url);
  throw new UserError(`There are no set-up scripts above ${here}.`, {
    file: here,
    code: "no-scripts",
    action: "Install Gradus again.",
  });
}

export const loadScript = async <T>(...path: readonly string[]): Promise<T> =>
  import(pathToFileURL(join(setupScripts(), ...path)).href);

/** With sources next to it: what is native is compiled there, where a package brings it along. */
export const isCheckout = (): boolean => existsSync(join(setupScripts(), "..", "server", "cli.ts"));
