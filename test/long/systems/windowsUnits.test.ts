/** Our own unit tests of files, processes, paths, SQLite and the engine, by Node for Windows, as Wine plays it. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { whyNoWine } from "../../support/systems/machine.ts";
import { windowsCheckout, type WindowsCheckout } from "../../support/systems/windowsCheckout.ts";
import { whyNoWheels } from "../../support/systems/wheelIndex.ts";

/** Folders of test/unit. Others compute, or read texts, and ask nothing of a system. */
const rooms = [
  "daemon",
  "datasets",
  "endpoint",
  "engine",
  "lib",
  "log",
  "run",
  "sandbox",
  "setup",
  "shared",
  "sites",
  "store",
  "trust",
];

/** Files of these rooms that Wine does not run, by what they need. */
const leftOut: Readonly<Record<string, readonly string[]>> = {
  "most of it starts a python3, of which there is none": ["store/hook.test.ts"],
};

const skip = whyNoWine() ?? whyNoWheels();
/** Milliseconds for one file: the end of what hangs. */
const limit = 240_000;

const { filesOf }: { filesOf(tier: string): readonly string[] } = await import(
  pathToFileURL(join(process.cwd(), "scripts", "testFiles.mjs")).href
);
const out = new Set(Object.values(leftOut).flat());
const roomOf = (file: string): string => file.split("/")[2] ?? "";
const files = filesOf("unit").filter(
  (file) => rooms.includes(roomOf(file)) && !out.has(file.slice("test/unit/".length)),
);

if (skip !== undefined) test("our unit tests on Windows", { skip }, () => undefined);
else {
  let checkout: Promise<WindowsCheckout> | undefined;
  after(async () => (await checkout)?.close());
  const sum = { passed: 0, failed: 0, skipped: 0 };
  // Each waits for its programs as long as it computes.
  describe("on Windows", { concurrency: 2 }, () => {
    for (const file of files)
      test(file, { timeout: limit }, async (t) => {
        const { test: run } = await (checkout ??= windowsCheckout(files));
        const { passed, failed, skipped, failures } = await run(file, t.signal);
        sum.passed += passed;
        sum.failed += failed;
        sum.skipped += skipped;
        assert.equal(failed, 0, failures.slice(0, 60).join("\n"));
        assert.ok(passed + skipped > 0, "ran no test");
      });
  });
  test("every room has files, and what is left out is there", (t) => {
    t.diagnostic(`${files.length} files: ${JSON.stringify(sum)}`);
    for (const room of rooms)
      assert.ok(
        files.some((file) => roomOf(file) === room),
        room,
      );
    for (const file of out) assert.ok(existsSync(join("test", "unit", file)), file);
  });
}
