/** Where the bundles of threads lie. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { UserError } from "../../shared/lib/errors.ts";
import { bundleFix } from "../../shared/lib/systemWords.mjs";
import { homeFolder } from "./natives.ts";

/** In dist/, next to this chunk or one folder above it. */
const placesOf = (name: string): readonly string[] => {
  const here = dirname(fileURLToPath(import.meta.url));
  return [join(here, name), join(here, "..", name)];
};

/** undefined: it is not built, as in tests that import the sources. */
export const findThread = (name: string): string | undefined =>
  placesOf(name).find((place) => existsSync(place));

/** @param who "The thread that …" @throws UserError where it is not built */
export function threadFile(name: string, who: string): string {
  const found = findThread(name);
  if (found !== undefined) return found;
  throw new UserError(`${who} is not built.`, {
    file: placesOf(name)[0] ?? name,
    code: "not-built",
    action: bundleFix(homeFolder()),
  });
}
