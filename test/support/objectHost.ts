/** The programs that environments and tools of the user's own run in, named to whoever starts one. */
import { build } from "esbuild";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after } from "node:test";

export async function objectHost(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "gradus-host-"));
  const outfile = join(folder, "objectHost.mjs");
  after(() => rmSync(folder, { recursive: true, force: true }));
  await build({
    entryPoints: ["server/lib/own/objectHost.ts"],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
  });
  process.env["GRADUS_OBJECT_HOST"] = outfile;
  process.env["GRADUS_PYTHON_HOST"] = resolve("server/methods/reward/own/python/rewardHost.py");
  process.env["GRADUS_REASONING_GYM"] = resolve("server/methods/tasks/reasoningGym/reasoningGym.py");
  process.env["GRADUS_PYTHON_OBJECT_HOST"] = resolve("server/lib/own/python/objectHost.py");
}
