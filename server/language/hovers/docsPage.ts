/** Links to the page of a slot, which the build writes. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { pagesFolder } from "../../config/text/rulePages.ts";
import type { Declaration } from "../../core/declaration.ts";

const known = new Map<string, boolean>();

/** `[All choices of sampler](file:…/methods/sampler.md#boltzmann)`; nothing where the pages are not built. */
export function docsLink({ slot, name }: Pick<Declaration, "slot" | "name">): string[] {
  const file = join(pagesFolder(), "methods", `${slot}.md`);
  const exists = known.get(file) ?? existsSync(file);
  known.set(file, exists);
  return exists
    ? [`[All options for ${slot.replaceAll("_", " ")}](${pathToFileURL(file).href}#${name})`]
    : [];
}
