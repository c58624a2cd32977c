import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { progressText } from "../../../extension/features/setUp/progressText.ts";

test("set-up's progress says the step, the time and what is done, each once", () => {
  const program = `
    const { say, startSteps, step, endSteps } = await import(process.argv[1]);
    say("waiting");
    startSteps(4);
    step(2, "SQLite");
    say("building SQLite");
    endSteps();`;
  const lines = execFileSync(
    "/bin/sh",
    [
      "-c",
      '"$0" --input-type=module -e "$1" "$2" 2>&1',
      process.execPath,
      program,
      `file://${join(process.cwd(), "scripts", "setup", "process.mjs")}`,
    ],
    { encoding: "utf8" },
  );
  assert.deepEqual(lines.trim().split("\n").map(progressText), [
    "Waiting",
    "Step 2 of 4, 0 s: SQLite",
    "Step 2 of 4, 0 s: building SQLite",
  ]);
  assert.equal(progressText("g++: warning"), undefined);
  assert.equal(progressText("gradus set-up: "), undefined);
});
