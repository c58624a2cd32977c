/** The process that programs run in, built into a folder of its own and named to whoever starts one. */
import { build } from "esbuild";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";

/** @returns how to remove it */
export async function builtSandboxProcess(): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), "gradus-sandbox-"));
  const outfile = join(folder, "sandboxProcess.mjs");
  await build({
    entryPoints: ["server/lib/sandbox/sandboxProcess.ts"],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
  });
  process.env["GRADUS_SANDBOX_PROCESS"] = outfile;
  return () => rmSync(folder, { recursive: true, force: true });
}

export const sandboxProcess = async (): Promise<void> => after(await builtSandboxProcess());
