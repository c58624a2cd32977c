import assert from "node:assert/strict";
import {
  appendFileSync,
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { capLog } from "../../../server/run/loop/capLog.ts";

test("a worker's log that has grown too large begins again, and what it held is next to it", () => {
  const folder = mkdtempSync(join(tmpdir(), "gradus-cap-"));
  const file = join(folder, "worker.log");
  // As the daemon opens it for the worker's output.
  const output = openSync(file, "a");
  try {
    assert.equal(capLog(file, 100), false);
    for (let round = 0; round < 3; round++) {
      appendFileSync(file, `${round}`.repeat(150));
      assert.equal(capLog(file, 100), true);
      assert.equal(statSync(file).size, 0);
      assert.equal(readFileSync(`${file}.1`, "utf8"), `${round}`.repeat(150));
    }
    writeSync(output, "goes on");
    assert.equal(readFileSync(file, "utf8"), "goes on");
    assert.equal(capLog(join(folder, "none.log"), 100), false);
  } finally {
    closeSync(output);
    rmSync(folder, { recursive: true });
  }
});
