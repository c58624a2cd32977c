// Which tests there are and how they are bundled; shared by scripts/unit.mjs (a few of them) and scripts/test.mjs (all).
import { build } from "esbuild";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { pathToFileURL } from "node:url";
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

/** Removes what earlier runs have built: parts of bundles that nothing uses any more are read by whoever lists the project. */
export const removeBuilt = () => rmSync(join("out", "test"), { recursive: true, force: true });

/** Bundles tests for node's runner; returns the built files. */
export async function buildNodeTests(files) {
  await build(tests(files));
  return files.map((name) => join("out", name.replace(/\.ts$/, ".mjs")));
}

/**
 * What a file says that may not share its process: it changes or measures the process, or starts programs; or all of it
 * may be skipped, and no hook hears of that.
 */
const alone =
  /\{ skip\b|\bskip: |(?<![/.])\bprocess\.(?!(cwd|platform)\b|env\["\w+"\](?! =))|performance\.|mock\.|(support\/(hubCache|objectHost|pythonPackages|rewardHost|mathsThread|sandboxProcess|shippedRewards|steps)|largePool)\.ts/;

/** The folder below the tier's: `test/unit/methods`. */
const roomOf = (file) => file.split(sep).slice(0, 3).join(sep);

/**
 * Lists of files that run in one process each, at most `most` of a room: to start one and to load what is tested takes
 * longer than most files do.
 */
export function together(files, most) {
  const groups = new Map();
  for (const file of files) {
    const key = most === 1 || alone.test(readFileSync(file, "utf8")) ? file : roomOf(file);
    const open = groups.get(key)?.at(-1);
    if (open !== undefined && open.length < most) open.push(file);
    else groups.set(key, [...(groups.get(key) ?? []), [file]]);
  }
  return [...groups.values()].flat();
}

/**
 * One file that runs files, each as a suite that is called after its source and fails without a test. `built`: what was
 * built of each.
 */
export function joined(name, files, built) {
  const list = files.map((file) => [file, pathToFileURL(built.get(file)).href]);
  const path = join("out", "together", `${name}.mjs`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(
    path,
    `import assert from "node:assert/strict";
import { after, beforeEach, describe } from "node:test";
for (const [file, built] of ${JSON.stringify(list)})
  describe(file, async () => {
    let ran = 0;
    beforeEach(() => void (ran += 1));
    after(() => assert.ok(ran > 0, "ran no test"));
    await import(built);
  });
`,
  );
  return path;
}

/** Bundles the tests that run in the extension host, and the stand-in for the editor's executable. */
export async function buildWorkbenchTests() {
  await Promise.all([
    build(workbenchTests(filesOf("workbench"))),
    build(tests([join("test", "support", "workbench.ts")])),
  ]);
}
