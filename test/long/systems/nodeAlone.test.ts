/** The package on Linux with neither a compiler nor Python nor npm: Node alone, and an index of Python packages. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { nodeAlone } from "../../support/systems/machine.ts";
import { untarred } from "../../support/systems/packaged.ts";
import { tellStory, type Played } from "../../support/systems/story.ts";
import { serveWheels, whyNoWheels, type WheelIndex } from "../../support/systems/wheelIndex.ts";

const system = `${process.platform}-${process.arch}`;
const skip = system === "linux-x64" ? whyNoWheels() : "it is told of Linux on x64";
const home = mkdtempSync(join(tmpdir(), "ga-"));
let index: WheelIndex | undefined;
let played: Promise<Played> | undefined;

async function prepared(): Promise<Played> {
  const program = await untarred(join(home, "program"));
  index = await serveWheels(join(home, "wheels"), system);
  const folder = join(home, "project");
  mkdirSync(folder);
  return { machine: nodeAlone({ program, home, index: index.url }), folder };
}
after(async () => {
  const { machine, folder } = (await played) ?? {};
  if (folder !== undefined) await machine?.gradus(["daemon", "stop"], folder);
  index?.close();
  rmSync(home, { recursive: true, force: true, maxRetries: 10 });
});

if (skip !== undefined) test("the package with Node alone", { skip }, () => undefined);
else
  tellStory(
    () => (played ??= prepared()),
    () => undefined,
  );
