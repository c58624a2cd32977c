import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

interface Options {
  readonly file: string;
  readonly again?: boolean;
}
interface Remembered {
  has(name: string): boolean;
  add(name: string): void;
}
const { Passed }: { Passed: new (sources: string | undefined, options: Options) => Remembered } =
  await import(pathToFileURL(join(process.cwd(), "scripts", "test", "passed.mjs")).href);

test("a long test that passed is remembered for the same sources, until it is to run again", () => {
  const folder = mkdtempSync(join(tmpdir(), "gradus-passed-"));
  const file = join(folder, "out", "long.json");
  try {
    const first = new Passed("commit 1", { file });
    assert.equal(first.has("a.test.ts"), false);
    first.add("a.test.ts");
    assert.equal(new Passed("commit 1", { file }).has("a.test.ts"), true);
    assert.equal(new Passed("commit 1", { file }).has("b.test.ts"), false);
    assert.equal(new Passed("commit 1", { file, again: true }).has("a.test.ts"), false);
    assert.equal(new Passed("commit 2", { file }).has("a.test.ts"), false);
    new Passed(undefined, { file }).add("b.test.ts");
    assert.equal(new Passed(undefined, { file }).has("b.test.ts"), false, "without git nothing is known");
    assert.equal(new Passed("commit 1", { file }).has("a.test.ts"), true);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
