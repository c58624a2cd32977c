// Which tests there are and how they are bundled; shared by scripts/unit.mjs (a few of them) and scripts/test.mjs (all).
import { build } from "esbuild";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join, sep } from "node:path";
import { tests, workbenchTests } from "../esbuild.mjs";

/** Test files below a folder of test/. */
export function filesOf(tier) {
  const folder = join("test", tier);
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter((name) => name.endsWith(".test.ts") && !name.split(sep).includes("fixtures"))
    .sort();
}

/** Bundles tests for node's runner; returns the built files. */
export async function buildNodeTests(files) {
  await build(tests(files));
  return files.map((name) => join("out", name.replace(/\.ts$/, ".mjs")));
}

/** Bundles the tests that run in the extension host, and the stand-in for the editor's executable. */
export async function buildWorkbenchTests() {
  rmSync(join("out", "test", "workbench"), { recursive: true, force: true });
  await Promise.all([
    build(workbenchTests(filesOf("workbench"))),
    build(tests([join("test", "support", "workbench.ts")])),
  ]);
}
