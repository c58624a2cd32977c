import assert from "node:assert/strict";
import { test } from "node:test";
import { pythonEnvironment } from "../../../server/lib/own/pythonEnvironment.ts";

test("a Python on Windows speaks UTF-8, unless its user has chosen otherwise", () => {
  assert.deepEqual(pythonEnvironment({ A: "1" }, "win32"), { PYTHONUTF8: "1", A: "1" });
  assert.deepEqual(pythonEnvironment({ PYTHONUTF8: "0" }, "win32"), { PYTHONUTF8: "0" });
  assert.deepEqual(pythonEnvironment({ A: "1" }, "linux"), { A: "1" });
});
