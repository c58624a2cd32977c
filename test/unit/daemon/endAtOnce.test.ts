/** `stop --now`: a worker is asked by a signal, but where a signal only ends it, by its control file alone; then it is ended. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { endAtOnce } from "../../../server/daemon/runs/control.ts";
import { ownPlace } from "../../../shared/daemon/place.ts";
import { processStart } from "../../../shared/daemon/process.ts";
import { workerCommand } from "../../../shared/run/run.ts";
import { writeWorker } from "../../../shared/run/lease.ts";
import { temporary } from "../support.ts";

const program =
  'process.on("SIGTERM", () => process.exit(7)); console.log("here"); setInterval(() => {}, 1000);';

for (const [platform, expected] of [
  ["linux", [7, null]],
  ["win32", [null, "SIGKILL"]],
] as const)
  test(
    `a worker is ended at once as ${platform} does it`,
    { skip: process.platform === "win32" },
    async () => {
      const folder = temporary();
      const child = spawn(process.execPath, ["-e", program, workerCommand, folder], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      const ended = once(child, "exit");
      await once(child.stdout, "data");
      writeWorker(folder, {
        pid: child.pid ?? 0,
        processStart: processStart(child.pid ?? 0),
        place: ownPlace(),
        attempt: 0,
        startedAt: new Date().toISOString(),
        version: "0.0.0",
      });
      // Asked by a signal, it is gone long before anybody insists.
      endAtOnce(folder, { platform, killAfter: platform === "win32" ? 50 : 3_600_000 });
      // The timer keeps no process alive, and the pipe to the child does.
      assert.deepEqual(await ended, expected);
    },
  );
