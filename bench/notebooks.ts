/** Checks notebooks of others as `gradus validate` does: how many are a trainer's, and what is said of them. `FOLDER…` */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import type { Diagnostic } from "../server/config/check/diagnostic.ts";
import { checkFrameworkDocument, readFrameworkDocument } from "../server/frameworks/check/index.ts";
import { isNotebook } from "../server/lib/notebook/notebook.ts";
import { UserError } from "../shared/lib/errors.ts";
import { measured, quantile, skipped } from "./report.ts";

interface Checked {
  readonly file: string;
  readonly found: readonly Diagnostic[];
  readonly milliseconds: number;
}

const folders = process.argv.slice(2).filter((word) => !word.startsWith("--"));
const files = folders.flatMap(notebooksBelow).sort();
if (files.length === 0) skipped("notebooks", "no folder with notebooks was named");
else report(files.flatMap(check));

function notebooksBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return [".git", "node_modules"].includes(entry.name) ? [] : notebooksBelow(path);
    return entry.isFile() && isNotebook(path) ? [path] : [];
  });
}

/** Nothing of one that is no trainer's, or cannot be read. */
function check(file: string): Checked | [] {
  const text = readFileSync(file, "utf8");
  const begin = performance.now();
  try {
    const document = readFrameworkDocument(file, text, { environment: "" });
    if (document === undefined) return [];
    const found = checkFrameworkDocument(document);
    return { file, found, milliseconds: performance.now() - begin };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    console.error(`${file}: ${error.message}`);
    return [];
  }
}

function report(checked: readonly Checked[]): void {
  const said = checked.flatMap(({ file, found }) => found.map((one) => ({ ...one, file })));
  for (const { file, cell = 0, range, severity, rule, message } of said)
    if (severity !== "info")
      console.log(`${file} cell ${cell}:${range.start.line + 1}: ${severity} ${rule}: ${message}`);
  const setting = `${files.length} notebooks`;
  const count = (severity: string): number => said.filter((one) => one.severity === severity).length;
  measured({ what: "notebooks: those of a trainer, checked", value: checked.length, unit: "", setting });
  measured({ what: "notebooks: errors", value: count("error"), unit: "", setting });
  measured({ what: "notebooks: warnings", value: count("warning"), unit: "", setting });
  if (checked.length === 0) return;
  const times = checked.map(({ milliseconds }) => milliseconds);
  measured({ what: "notebooks: a check, median", value: quantile(times, 0.5), unit: "ms", setting });
}
