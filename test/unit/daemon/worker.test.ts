import assert from "node:assert/strict";
import { test } from "node:test";
import { workerEnvironment } from "../../../server/daemon/worker.ts";

test("a run's process has the daemon's environment, and its engine decides on threads", () => {
  assert.equal(workerEnvironment({ GRADUS_PYTHON: "/a" }, "/b")["GRADUS_PYTHON"], "/b");
  const { PATH, ...rest } = workerEnvironment({ PATH: "/bin", TF_CPP_MIN_LOG_LEVEL: "0" });
  assert.equal(PATH, "/bin");
  assert.equal(rest["TF_CPP_MIN_LOG_LEVEL"], "0");
  assert.deepEqual(
    Object.keys(rest).filter((name) => name.startsWith("TF_NUM_")),
    [],
  );
});
