/** Where the pages of docs/rules lie: in the checkout, or in the installed extension. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { presetsFolder } from "../presets.ts";

const known = new Map<string, string | undefined>();

/** The page of a rule; undefined where there is none. */
export function rulePageFile(id: string): string | undefined {
  if (!known.has(id)) known.set(id, find(id));
  return known.get(id);
}

function find(id: string): string | undefined {
  if (!/^[a-z][a-z0-9-]*$/.test(id)) return undefined;
  const file = join(dirname(presetsFolder()), "docs", "rules", `${id}.md`);
  return existsSync(file) ? file : undefined;
}
