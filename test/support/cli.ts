/** The command line as it ships, built once for the test process that asks. */
import { build } from "esbuild";
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";

const natives = ["better-sqlite3", "libsql", "@tensorflow/*", "esbuild"];
const banner =
  'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);';

let built: Promise<string> | undefined;

/** Path of a `cli.mjs` built from the sources as they are: once for all of `npm test`, else once a process. */
export const builtCli = (): Promise<string> =>
  (built ??= Promise.resolve(process.env["GRADUS_TEST_CLI"] ?? buildCli()));

async function buildCli(): Promise<string> {
  mkdirSync("out", { recursive: true });
  const outdir = mkdtempSync(resolve("out", "cli-"));
  process.on("exit", () => rmSync(outdir, { recursive: true, force: true }));
  await build({
    entryPoints: { cli: "server/cli.ts" },
    outdir,
    bundle: true,
    splitting: true,
    platform: "node",
    target: "node20",
    format: "esm",
    banner: { js: banner },
    external: natives,
    outExtension: { ".js": ".mjs" },
    chunkNames: "chunks/[name]-[hash]",
    define: { GRADUS_VERSION: '"0.0.0-test"' },
    logLevel: "warning",
  });
  return join(outdir, "cli.mjs");
}

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `gradus …` to its end. */
export async function gradus(words: readonly string[], cwd = process.cwd()): Promise<Ended> {
  const cli = await builtCli();
  return await new Promise((done, failed) => {
    const child = spawn(process.execPath, [cli, ...words], { cwd, stdio: ["ignore", "pipe", "pipe"] });
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    child.on("error", failed);
    child.on("close", (code) => done({ code, stdout, stderr }));
  });
}
