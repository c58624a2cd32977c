/** From the tarball with Node alone to the first step of a run: the engine's library out of its wheel, which an index on this machine has. */
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { nodeAlone } from "../test/support/systems/machine.ts";
import { untarred } from "../test/support/systems/packaged.ts";
import { serveWheels } from "../test/support/systems/wheelIndex.ts";
import { until } from "../test/support/until.ts";
import { measured } from "./report.ts";

const home = mkdtempSync(join(tmpdir(), "gradus-first-"));
const program = await untarred(join(home, "program"));
const index = await serveWheels(join(home, "wheels"), `${process.platform}-${process.arch}`);
try {
  const folder = join(home, "project");
  mkdirSync(folder);
  cpSync(join("examples", "countdown"), folder, { recursive: true });
  const machine = nodeAlone({ program, home, index: index.url });
  const began = performance.now();
  const run = machine.start(["run", "countdown.gradus.yaml"], folder);
  await until(() => /^step 0 /m.test(run.printed()), "the first step");
  const value = (performance.now() - began) / 1000;
  measured({
    what: "from the tarball to a run's first step",
    value,
    unit: "s",
    goal: 45,
    setting: "Node alone; the wheel of 274 MB from an index on this machine",
  });
  await machine.gradus(["runs", "stop", "countdown", "--now"], folder);
  await machine.gradus(["daemon", "stop"], folder);
  await run.ended;
} finally {
  index.close();
  rmSync(home, { recursive: true, force: true, maxRetries: 10 });
}
