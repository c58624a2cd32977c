/** Our own unit tests of files, processes, paths, SQLite and the engine, by Node for Windows, as Wine plays it. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { whyNoWine } from "../../support/systems/machine.ts";
import { windowsCheckout, type WindowsCheckout } from "../../support/systems/windowsCheckout.ts";
import { whyNoWheels } from "../../support/systems/wheelIndex.ts";

/**
 * Folders of test/unit. Of the others most compute, or read texts, and ask nothing of a system. Not run, and not looked at here:
 * `sites` and `harbor`, which are shells of Linux; `trust`, which plants links; `cli`, whose tests expect paths with `/` in
 * what is printed; `methods`, `analysis` and `frameworks`, where a python3 or a server is asked.
 */
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
  "store",
];

/** Files of these rooms that are not run, by what they need. */
const leftOut: Readonly<Record<string, readonly string[]>> = {
  "a connection by TCP, which Node cannot make under Wine 8: it knows no routes": [
    "endpoint/bounds.test.ts",
    "run/newTasks.test.ts",
    "setup/wheels.test.ts",
  ],
  "a watch that sees into folders, which Wine has not": ["daemon/watch.test.ts"],
  python3: ["setup/mathTerms.test.ts", "store/hook.test.ts"],
  "ps, or programs that are scripts of a shell": ["sandbox/processes.test.ts", "sandbox/wall.test.ts"],
  "the paths of another system, which are joined as that one does": ["setup/npm.test.ts"],
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
  let checkout: WindowsCheckout | undefined;
  before(async () => {
    checkout = await windowsCheckout(files);
  });
  after(() => checkout?.close());
  const sum = { passed: 0, failed: 0, skipped: 0 };
  // Each waits for its programs as long as it computes.
  describe("on Windows", { concurrency: 2 }, () => {
    for (const file of files)
      test(file, { timeout: limit }, async (t) => {
        assert.ok(checkout !== undefined);
        const { passed, failed, skipped, failures } = await checkout.test(file, t.signal);
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
