/** A package of a few files, and the keys that it declares. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import {
  declaredFacts,
  type TreeSpec,
} from "../../../../server/frameworks/releases/extract/declared/index.ts";
import type { KeyFacts } from "../../../../server/frameworks/releases/tables/table.ts";

/** @param files sources by path @param spec by default the class `Root` of `made/config.py` */
export function keysOf(
  files: Readonly<Record<string, string>>,
  spec: TreeSpec = { classes: ["made.config:Root"] },
): KeyFacts {
  const root = mkdtempSync(join(tmpdir(), "gradus-declared-"));
  for (const [name, source] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), source);
  }
  const release = declaredFacts(root, { trees: { main: spec } });
  rmSync(root, { recursive: true, force: true });
  return release?.["main"] ?? {};
}

export const keysIn = (source: string): KeyFacts => keysOf({ "made/config.py": source });
