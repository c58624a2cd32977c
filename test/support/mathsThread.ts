/** The thread that compares answers, built into a folder of its own and named to whoever starts one. */
import { build } from "esbuild";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after } from "node:test";

export async function mathsThread(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "gradus-maths-"));
  const outfile = join(folder, "mathsThread.mjs");
  after(() => rmSync(folder, { recursive: true, force: true }));
  await build({
    entryPoints: ["server/lib/maths/mathsThread.ts"],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
  });
  process.env["GRADUS_MATHS_THREAD"] = outfile;
  process.env["GRADUS_MATH_VERIFY"] = resolve("server/methods/reward/maths/mathVerify.py");
}
