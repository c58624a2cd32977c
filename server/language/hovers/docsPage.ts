/** The pages of docs/methods, in the checkout or in the installed extension. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { presetsFolder } from "../../config/presets.ts";
import type { Declaration } from "../../core/declaration.ts";

const known = new Map<string, boolean>();

/** `[docs/methods/sampler.md](file:…#boltzmann)`; nothing where the pages are not installed. */
export function docsLink({ slot, name }: Pick<Declaration, "slot" | "name">): string[] {
  const file = join(dirname(presetsFolder()), "docs", "methods", `${slot}.md`);
  const exists = known.get(file) ?? existsSync(file);
  known.set(file, exists);
  return exists ? [`[All choices of ${slot.replaceAll("_", " ")}](${pathToFileURL(file).href}#${name})`] : [];
}
