/** The package on Windows, as Wine plays it: nothing but Node for Windows, and an index of Python packages. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { whyNoWine, wineMachine } from "../../support/systems/machine.ts";
import { stage } from "../../support/systems/stage.ts";
import { firstMetrics, tellStory } from "../../support/systems/story.ts";
import { until } from "../../support/until.ts";
import { whyNoWheels } from "../../support/systems/wheelIndex.ts";

const skip = whyNoWine() ?? whyNoWheels();
/** The example's first steps on this machine, by this checkout. */
async function stepsHere(home: string, steps: number): Promise<string> {
  const folder = join(home, "here");
  cpSync(join("examples", "countdown"), folder, { recursive: true });
  const gradus = join(process.cwd(), "bin", "gradus");
  const run = (...words: string[]) =>
    promisify(execFile)(process.execPath, [gradus, ...words], { cwd: folder, maxBuffer: 1 << 26 });
  // A run of fewer steps would have another schedule of its rate.
  const running = run("run", "countdown.gradus.yaml");
  await until(async () => {
    const { stdout } = await run("runs", "list", "--json");
    const { runs }: { readonly runs: readonly { readonly step: number }[] } = JSON.parse(stdout);
    return (runs[0]?.step ?? -1) >= steps;
  }, "the first steps here");
  await run("runs", "stop", "last");
  await running.catch(() => undefined);
  const { stdout } = await run("runs", "export", "last", "--to", "csv");
  await run("daemon", "stop");
  return stdout;
}

if (skip !== undefined) test("the package on Windows", { skip }, () => undefined);
else {
  const { home, play } = stage("win32-x64", wineMachine);
  tellStory(play, async (csv, t) => {
    const [there, here] = [firstMetrics(csv, 50), firstMetrics(await stepsHere(home, 50), 50)];
    assert.equal(there.length, 50);
    const differing = there.flatMap((row, step) =>
      Object.keys(row)
        .filter((name) => (row[name] ?? "") !== (here[step]?.[name] ?? ""))
        .map((name) => `${name} at step ${step}`),
    );
    t.diagnostic(differing.length === 0 ? "50 steps are equal to Linux's" : `first differs: ${differing[0]}`);
    // Another compiler made that library: sums round otherwise, and training makes more of it with each step.
    const off = there.map((row, step) => {
      const [one, other] = [row, here[step] ?? {}].map((metrics) => Number(metrics["update/loss"]));
      return Math.abs(one! - other!) / Math.abs(other!);
    });
    t.diagnostic(`loss, relative: ${off[0]} at the first step, ${Math.max(...off)} at most`);
    assert.ok(off[0]! < 1e-6 && Math.max(...off) < 0.01, off.join());
  });
}
