/** A copy of this checkout for Windows, which Wine plays: packages, bundled tests, the native engine, and what set-up records. */
import { build, type BuildOptions } from "esbuild";
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { wineNode, type WineNode } from "./machine.ts";

const run = promisify(execFile);
/** Not bundled into the test: these know the repository by their own place. */
const load = async <T>(path: string): Promise<T> => import(pathToFileURL(join(process.cwd(), path)).href);

/** What one file of tests came to, as the runner counts it. */
export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** What is printed of the tests that failed. */
  readonly failures: readonly string[];
}
interface Counter extends Counts {
  line(text: string): void;
}

export interface WindowsCheckout {
  /** Runs a file of tests to its end, or to the signal's. */
  test(file: string, signal: AbortSignal): Promise<Counts>;
  close(): void;
}

const notCopied = new Set(["node_modules", "out", ".git"]);
function copyTo(folder: string): void {
  const from = process.cwd();
  cpSync(from, folder, {
    recursive: true,
    filter: (path) => !notCopied.has(relative(from, path).split(sep)[0] ?? ""),
  });
}

/** The only function that esbuild's program misses in Wine 8. */
const randomBytes = `__declspec(dllimport) unsigned char SystemFunction036(void *bytes, unsigned long length);
__declspec(dllexport) int ProcessPrng(void *bytes, unsigned long long length) {
  return SystemFunction036(bytes, (unsigned long)length);
}
`;
async function addRandomBytes({ disk }: WineNode): Promise<void> {
  const { buildDll } = await load<{
    buildDll(source: string, file: string, libraries: readonly string[]): Promise<void>;
  }>("scripts/addon/build.mjs");
  const file = join(disk, "windows", "system32", "bcryptprimitives.dll");
  await buildDll(randomBytes, file, ["advapi32"]);
}

/** @returns the engine's folder */
async function addEngine(data: string): Promise<string> {
  const words = ["engine", "install", "--for", "win32-x64", "--to", data, "--yes"];
  await run(process.execPath, [join("bin", "gradus"), ...words]);
  const [name = ""] = readdirSync(join(data, "engine"));
  return join(data, "engine", name);
}

/** As set-up writes it on a Windows without a compiler. */
function record(checkout: string, { path, node }: WineNode, engine: string): void {
  const file = join(checkout, "node_modules", ".gradus", "setup.json");
  mkdirSync(dirname(file), { recursive: true });
  const { node: version, modules: abi } = process.versions;
  writeFileSync(
    file,
    JSON.stringify({
      format: 1,
      node: { path: path(node), version, abi },
      lock: "",
      sqlite: { driver: "none", reason: "there is no compiler" },
      engine: { backend: "native", folder: path(engine), reason: "TensorFlow" },
      at: new Date(0).toISOString(),
    }),
  );
}

async function bundle(checkout: string, files: readonly string[]): Promise<void> {
  const { tests } = await load<{ tests(files: readonly string[]): BuildOptions }>("esbuild.mjs");
  await build({ ...tests(files), absWorkingDir: checkout });
  const { buildPrograms } = await load<{ buildPrograms(folder: string): Promise<unknown> }>(
    "scripts/test/programs.mjs",
  );
  await buildPrograms(join(checkout, "out", "programs"));
}

/** @param files of tests, from the checkout's folder */
export async function windowsCheckout(files: readonly string[]): Promise<WindowsCheckout> {
  // Short: some paths of Windows may have 260 letters.
  const home = mkdtempSync(join(tmpdir(), "gw-"));
  const checkout = join(home, "g");
  copyTo(checkout);
  const built = join(checkout, "out", "programs");
  const wine = wineNode(home, (path) => ({
    GRADUS_TEST_CLI: path(join(built, "dist", "cli.mjs")),
    GRADUS_TEST_WORKER: path(join(built, "test", "rpc", "worker.mjs")),
  }));
  const close = (): void => {
    wine.close();
    rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  };
  try {
    await bundle(checkout, files);
    const flags = ["--os=win32", "--cpu=x64", "--ignore-scripts", "--no-audit", "--no-fund"];
    await run("npm", ["ci", ...flags], { cwd: checkout });
    record(checkout, wine, await addEngine(join(home, "data")));
    await addRandomBytes(wine);
  } catch (error) {
    close();
    throw error;
  }
  return { test: (file, signal) => testIn(checkout, wine, file, signal), close };
}

async function testIn(checkout: string, wine: WineNode, file: string, signal: AbortSignal): Promise<Counts> {
  const { Counter } = await load<{ Counter: new () => Counter }>("scripts/test/runner.mjs");
  const built = wine.path(join(checkout, "out", file.replace(/\.ts$/, ".mjs")));
  const flags = ["--enable-source-maps", "--test-reporter=spec", built];
  const { child, ended } = wine.start(flags, checkout);
  const kill = (): void => void child.kill("SIGKILL");
  signal.addEventListener("abort", kill);
  const { code, stdout, stderr } = await ended;
  signal.removeEventListener("abort", kill);
  const counter = new Counter();
  for (const line of stdout.split(/\r?\n/)) counter.line(line);
  const { passed, failed, skipped, failures } = counter;
  if (code === 0 || failed > 0) return { passed, failed, skipped, failures };
  return { passed, failed: 1, skipped, failures: [`ended with ${code}`, ...stderr.split(/\r?\n/)] };
}
