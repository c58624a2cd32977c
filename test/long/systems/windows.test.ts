/** The package on Windows, as Wine plays it: nothing but Node for Windows, and an index of Python packages. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { whyNoWine, wineMachine } from "../../support/systems/machine.ts";
import { untarred } from "../../support/systems/packaged.ts";
import { firstMetrics, tellStory, type Played } from "../../support/systems/story.ts";
import { until } from "../../support/until.ts";
import { serveWheels, whyNoWheels, type WheelIndex } from "../../support/systems/wheelIndex.ts";

const skip = whyNoWine() ?? whyNoWheels();
const home = mkdtempSync(join(tmpdir(), "gw-"));
let index: WheelIndex | undefined;
let played: Promise<Played> | undefined;

async function prepared(): Promise<Played> {
  const program = await untarred(join(home, "program"));
  index = await serveWheels(join(home, "wheels"), "win32-x64");
  const folder = join(home, "project");
  mkdirSync(folder);
  return { machine: wineMachine({ program, home, index: index.url }), folder };
}
after(async () => {
  const { machine, folder } = (await played) ?? {};
  if (folder !== undefined) await machine?.gradus(["daemon", "stop"], folder);
  machine?.close();
  index?.close();
  rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
});

/** The example's first steps on this machine, by this checkout. */
async function stepsHere(steps: number): Promise<string> {
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
else
  tellStory(
    () => (played ??= prepared()),
    async (csv, t) => {
      const [there, here] = [firstMetrics(csv, 50), firstMetrics(await stepsHere(50), 50)];
      assert.equal(there.length, 50);
      const differing = there.flatMap((row, step) =>
        Object.keys(row)
          .filter((name) => (row[name] ?? "") !== (here[step]?.[name] ?? ""))
          .map((name) => `${name} at step ${step}`),
      );
      t.diagnostic(
        differing.length === 0 ? "50 steps are equal to Linux's" : `first differs: ${differing[0]}`,
      );
      // Another compiler made that library: sums round otherwise, and training makes more of it with each step.
      const off = there.map((row, step) => {
        const [one, other] = [row, here[step] ?? {}].map((metrics) => Number(metrics["update/loss"]));
        return Math.abs(one! - other!) / Math.abs(other!);
      });
      t.diagnostic(`loss, relative: ${off[0]} at the first step, ${Math.max(...off)} at most`);
      assert.ok(off[0]! < 1e-6 && Math.max(...off) < 0.01, off.join());
    },
  );
