/** Where the pages lie that the build writes: in dist/docs of the checkout or of the installed package. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { presetsFolder } from "../presets.ts";

export const pagesFolder = (): string => join(dirname(presetsFolder()), "dist", "docs");

const known = new Map<string, string | undefined>();

/** The page of a rule; undefined where there is none. */
export function rulePageFile(id: string): string | undefined {
  if (!known.has(id)) known.set(id, find(id));
  return known.get(id);
}

/** Of `probe-value-[]` as well a name that links can hold. */
export const rulePageName = (id: string): string => `${id.replace("[]", "list")}.md`;

function find(id: string): string | undefined {
  if (!/^[a-z][a-z0-9-]*(\[\])?$/.test(id)) return undefined;
  const file = join(pagesFolder(), "rules", rulePageName(id));
  return existsSync(file) ? file : undefined;
}
