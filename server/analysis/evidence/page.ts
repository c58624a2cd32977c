/** The page of a kind of evidence: one for all, in the checkout or in the installed extension. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { presetsFolder } from "../../config/presets.ts";

let page: string | null | undefined;

/** undefined for what is no evidence, and where the page is not there. */
export function evidencePage(rule: string): string | undefined {
  if (!rule.startsWith("run-")) return undefined;
  if (page === undefined) {
    const file = join(dirname(presetsFolder()), "docs", "evidence.md");
    page = existsSync(file) ? pathToFileURL(file).href : null;
  }
  return page === null ? undefined : `${page}#${rule}`;
}
