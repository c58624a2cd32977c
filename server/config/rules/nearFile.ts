import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import type { Fix } from "../diagnostic.ts";
import type { Origin } from "../node.ts";
import { nearest } from "../suggest.ts";
import { replace } from "../report.ts";

/** The file beside a missing one whose name is nearest, as `at` would write it. */
export function sibling(
  missing: string,
  at: Origin,
): { readonly hint: string; readonly fixes: readonly Fix[] } {
  const folder = dirname(missing);
  const meant = existsSync(folder) ? nearest(basename(missing), readdirSync(folder)) : undefined;
  if (meant === undefined) return { hint: "", fixes: [] };
  const path = relative(at.folder, join(folder, meant));
  const fix = replace(at.range, yamlText(path), `Change to \`${path}\``);
  return { hint: ` Did you mean \`${path}\`?`, fixes: [fix] };
}

/** A path in YAML: quoted where it would be read as something else. */
const yamlText = (path: string): string => (/^[\w./~+-]+$/.test(path) ? path : JSON.stringify(path));
