/**
 * `gradus engine`: which library computes, and installing another one. The work is done by the set-up scripts, which run
 * before anything is bundled and are loaded from their own files.
 */
import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { promisify } from "node:util";
import { messageOf, UserError } from "../../shared/lib/errors.ts";
import { checkEngine } from "./doctor/checks.ts";
import { exit, print, printJson, type Command } from "./command.ts";
import { loadScript } from "./doctor/setupScripts.ts";

interface Library {
  readonly present: boolean;
  readonly sha256: string | null;
  /** Only where it was asked to be verified; null where no checksum was written down. */
  readonly matches?: boolean | null;
}
interface InstalledEngine {
  readonly folder: string;
  readonly variant: "cpu" | "gpu";
  readonly addon: boolean;
  readonly wheels: readonly { readonly name: string; readonly version: string }[] | null;
  readonly libraries: Readonly<Record<string, Library>>;
  readonly nvidia: readonly string[];
  readonly bytes: number;
}
export interface EngineStatus {
  readonly root: string;
  readonly data: string;
  readonly node: { readonly version: string; readonly abi: string; readonly nodeApi: string };
  readonly addon: {
    readonly package: string;
    readonly nodeApi: number;
    readonly sqliteAbis: readonly string[];
  };
  readonly tensorflow: string;
  readonly wanted: "cpu" | "gpu";
  readonly linked: {
    readonly kind: "none" | "broken" | "linked";
    readonly folder: string | null;
    readonly variant: "cpu" | "gpu" | null;
  };
  readonly engines: readonly InstalledEngine[];
  readonly wasm: string;
  readonly webgpu: { readonly dawn: string | null; readonly tfjs: string | null };
}

/** What WebGPU finds, in a process of its own: a driver may take its process along, and Dawn keeps it alive. */
async function webGpuHere({ webgpu }: EngineStatus): Promise<string> {
  if (webgpu.dawn === null || webgpu.tfjs === null) return "not installed (gradus engine install --webgpu)";
  try {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [process.argv[1] ?? "", "engine", "probe-webgpu"],
      {
        timeout: 60_000,
      },
    );
    return stdout.trim();
  } catch (error) {
    return `does not start: ${messageOf(error).split("\n")[0] ?? ""}`;
  }
}
async function probeWebGpu(): Promise<void> {
  const { findAdapter } = await import("../engine/devices/webgpu.ts");
  let answer: string;
  try {
    const adapter = await findAdapter();
    answer =
      adapter === undefined
        ? "no adapter: no Vulkan, Metal or Direct3D 12 driver"
        : `${adapter.description}${adapter.software ? " (software: never chosen automatically)" : ""}`;
  } catch (error) {
    answer = `does not start: ${messageOf(error).split("\n")[0] ?? ""}`;
  }
  // Dawn's own threads would keep the process.
  process.stdout.write(`${answer}\n`, () => process.exit(exit.ok));
}

const linkText = ({ linked, wanted }: EngineStatus): string =>
  linked.kind === "linked"
    ? `${linked.variant === "gpu" ? "CUDA" : "CPU"} library, ${linked.folder ?? ""}`
    : linked.kind === "broken"
      ? `none: ${linked.folder ?? ""} is gone (set-up chose ${wanted})`
      : "none";
const sumText = ({ sha256, matches, present }: Library): string => {
  if (!present) return "missing";
  const verified =
    matches === undefined
      ? ""
      : matches === true
        ? ", verified"
        : matches === null
          ? ", never recorded"
          : ", CHANGED";
  return `sha256 ${sha256?.slice(0, 16) ?? "not recorded (see --verify)"}${verified}`;
};
function printEngine({ folder, variant, wheels, libraries, nvidia, bytes }: InstalledEngine): void {
  const names = wheels?.map(({ name, version }) => `${name} ${version}`).join(", ") ?? "wheel not recorded";
  print(`  ${variant}  ${folder} (${(bytes / 1e6).toFixed(0)} MB): ${names}`);
  for (const [name, library] of Object.entries(libraries)) print(`       ${name}: ${sumText(library)}`);
  if (nvidia.length > 0) print(`       NVIDIA's: ${nvidia.join(", ")}`);
}

async function status(options: { json?: boolean; verify?: boolean }): Promise<void> {
  const { engineStatus } = await loadScript<{
    engineStatus(options: { verify: boolean }): Promise<EngineStatus>;
  }>("setup", "status.mjs");
  const found = await engineStatus({ verify: options.verify === true });
  const [native, webgpu] = await Promise.all([checkEngine(), webGpuHere(found)]);
  const ok = native.status === "ok";
  process.exitCode = ok ? exit.ok : exit.failed;
  if (options.json === true)
    return printJson({ ok, ...found, computes: { backend: native.backend, detail: native.detail, webgpu } });
  const { node, addon } = found;
  print(`computes  ${native.detail}`);
  if (native.fix !== undefined && !ok) print(`          → ${native.fix}`);
  print(`linked    ${linkText(found)}`);
  print(
    `addon     @tensorflow/tfjs-node-gpu ${addon.package}, Node-API ${addon.nodeApi}: one build for every Node from 20 on`,
  );
  print(
    `node      ${node.version} (ABI ${node.abi}); SQLite is built for ABI ${addon.sqliteAbis.join(", ") || "none"}`,
  );
  print(`webgpu    ${webgpu}`);
  print(`wasm      ${found.wasm}`);
  print(found.engines.length === 0 ? "engines   none" : `engines   TensorFlow ${found.tensorflow}`);
  found.engines.forEach(printEngine);
}

/** Asks on the terminal; without one only --yes agrees. */
async function ask(question: string): Promise<boolean> {
  if (process.stdin.isTTY !== true) return false;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question}. Continue? [y/N] `)).trim());
  } finally {
    terminal.close();
  }
}

interface SetupFailure extends Error {
  readonly fix?: string;
}
interface Asking {
  confirm(question: string): Promise<boolean>;
}
interface SetUpOptions {
  readonly again: boolean;
  readonly engine: { readonly variant: "cpu" | "gpu" } & Asking;
}
interface InstallOptions {
  readonly gpu?: boolean;
  readonly webgpu?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
  readonly for?: string;
  readonly to?: string;
}

/** Lays an engine out for a machine that has no network, or is another system. */
async function layOut(system: string, to: string, asking: Asking): Promise<void> {
  const { layOutEngine } = await loadScript<{
    layOutEngine(system: string, to: string, asking: Asking): Promise<string>;
  }>("setup", "engine.mjs");
  const folder = await layOutEngine(system, resolve(to), asking);
  print(folder);
  print(
    `on that machine: copy what is in ${resolve(to)} into ${[".local", "share", "gradus"].join(system.startsWith("win32") ? "\\" : "/")} of your home folder, or name the copy in GRADUS_DATA`,
  );
}

async function installHere(options: InstallOptions, asking: Asking): Promise<void> {
  if (options.webgpu === true) {
    const { installWebGpu } = await loadScript<{ installWebGpu(): Promise<void> }>(
      "setup",
      "dependencies.mjs",
    );
    return installWebGpu();
  }
  const { setUp } = await loadScript<{ setUp(options: SetUpOptions): Promise<{ engine: object }> }>(
    "setup.mjs",
  );
  await setUp({ again: true, engine: { variant: options.gpu === true ? "gpu" : "cpu", ...asking } });
}

async function install(options: InstallOptions): Promise<void> {
  const asking = { confirm: options.yes === true ? () => Promise.resolve(true) : ask };
  if ((options.for === undefined) !== (options.to === undefined))
    throw new UserError("--for and --to belong together.", {
      code: "usage",
      action: "Name the system and a folder: gradus engine install --for linux-x64 --to engine",
    });
  try {
    if (options.for !== undefined && options.to !== undefined)
      return await layOut(options.for, options.to, asking);
    await installHere(options, asking);
  } catch (error) {
    if (!(error instanceof Error) || error.name !== "SetupError") throw error;
    const { fix }: SetupFailure = error;
    throw new UserError(error.message, {
      code: "engine-install",
      ...(fix === undefined ? {} : { action: fix }),
      cause: error,
    });
  }
  await status({ json: options.json === true });
}

export const command: Command = {
  name: "engine",
  configure: (program) => {
    program
      .command("status")
      .description("which library computes, and what is installed where")
      .option("--json", "one JSON value")
      .option("--verify", "read the libraries and verify their checksums")
      .action(status);
    program
      .command("install")
      .description("fetch TensorFlow's library, once for this user")
      .option("--gpu", "the CUDA library and NVIDIA's libraries, about 3 GB")
      .option("--webgpu", "the packages for GPUs without CUDA")
      .option("--yes", "download more than 1 GB without asking")
      .option("--for <system>", "for another machine: linux-x64, linux-arm64, darwin-arm64 or win32-x64")
      .option("--to <folder>", "with --for: where to lay it out")
      .option("--json", "the status afterwards, as one JSON value")
      .action(install);
    program.command("probe-webgpu", { hidden: true }).action(probeWebGpu);
  },
};
