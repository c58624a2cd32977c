/** Every configuration of a checkout's examples, as `gradus validate` judges it. */
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { extname, join, relative, sep } from "node:path";
import { checkFrameworkDocument, readFrameworkDocument } from "../../server/frameworks/check/index.ts";
import type { JudgedError, JudgedFile } from "./ledger.ts";

const endings = [".yaml", ".yml", ".sh", ".bash", ".slurm", ".sbatch", ".py", ".toml"];
const folders =
  /(^|\/)(examples?|recipes?|configs?|conf|cli_configs|scripts|shell|projects|cookbook|python_scripts|nb|training|train|benchmarks?|launch\w*)\//;
const passedOver = /(^|\/)(\.[^/]+|node_modules|__pycache__|tests?|docs)\//;
const longest = 1 << 20;

/** Paths of what may configure a run, below a checkout, sorted. */
export function candidates(checkout: string): string[] {
  return below(checkout)
    .map((file) => relative(checkout, file).split(sep).join("/"))
    .filter((path) => folders.test(path) && !passedOver.test(path) && endings.includes(extname(path)))
    .filter((path) => statSync(join(checkout, path)).size <= longest)
    .sort();
}

const below = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return [".git", "node_modules"].includes(entry.name) ? [] : below(path);
    return entry.isFile() ? [path] : [];
  });

/** undefined where nothing is known of the program and nothing was found. */
export function judge(checkout: string, path: string): JudgedFile | undefined {
  const file = join(checkout, path);
  const bytes = readFileSync(file);
  const document = readFrameworkDocument(file, bytes.toString("utf8"), { environment: "" });
  if (document === undefined) return undefined;
  const found = checkFrameworkDocument(document);
  const warnings: Record<string, number> = {};
  for (const { severity, rule } of found)
    if (severity === "warning") warnings[rule] = (warnings[rule] ?? 0) + 1;
  const errors = found
    .filter(({ severity }) => severity === "error")
    .map(({ rule, key, range }): JudgedError => ({
      rule,
      key,
      line: range.start.line + 1,
      proof: { state: "open" },
    }));
  return {
    path,
    sha256: createHash("sha256").update(bytes).digest("hex"),
    kind: document.framework,
    errors,
    warnings,
  };
}
