/** The programs that user rewards run in, that of TypeScript built into a folder of its own and named to whoever starts one. */
import { build } from "esbuild";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after } from "node:test";

export async function rewardHost(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "gradus-host-"));
  const outfile = join(folder, "rewardHost.mjs");
  after(() => rmSync(folder, { recursive: true, force: true }));
  await build({
    entryPoints: ["server/methods/reward/own/host.ts"],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
  });
  process.env["GRADUS_REWARD_HOST"] = outfile;
  process.env["GRADUS_PYTHON_HOST"] = resolve("server/methods/reward/own/python/rewardHost.py");
}
