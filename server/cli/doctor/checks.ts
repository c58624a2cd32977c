/**
 * What Gradus needs from this machine, each looked at for real: a database is opened and a matrix multiplied, both in
 * a child process, because a native library that fails may take its process along.
 */
import { execFile, type ExecFileException } from "node:child_process";
import { accessSync, constants, existsSync, mkdirSync, statfsSync } from "node:fs";
import { dirname, join, parse, resolve } from "node:path";
import { elsewhere, installCommand, slower } from "../../../shared/lib/systemWords.mjs";
import { refuseOthers } from "../../../shared/daemon/ownership.ts";
import { messageOf, UserError } from "../../../shared/lib/errors.ts";
import { isCheckout, loadScript, setupScripts } from "./setupScripts.ts";
import type { WasmConstructor } from "../../store/drivers/wasmDriver.ts";
import { pythonNames } from "../../lib/own/pythonNames.ts";
import { carriedVersion, requireCarried } from "../../lib/carried.ts";
import {
  dataFolder,
  engineFix,
  engineAddon,
  nativeRoot,
  nativeVersion,
  recordedNode,
  setupRecord,
  sqliteBinding,
  sqliteDriver,
} from "../../lib/natives.ts";

export interface Check {
  readonly name: string;
  /** `missing` is needed and fails the doctor; `optional` is only missed by the tests, or by a set-up to come. */
  readonly status: "ok" | "missing" | "optional";
  readonly detail: string;
  /** The exact command that fixes it. */
  readonly fix?: string;
}

const ok = (name: string, detail: string): Check => ({ name, status: "ok", detail });
const missing = (name: string, detail: string, fix: string): Check => ({
  name,
  status: "missing",
  detail,
  fix,
});
const optional = (name: string, detail: string, fix: string): Check => ({
  name,
  status: "optional",
  detail,
  fix,
});

/** What could not be looked at; a program of the folder that is not started without trust is not missing. */
export function unseen(name: string, error: unknown): Check {
  if (!(error instanceof UserError)) throw error;
  const { code, action = "gradus validate" } = error.detail;
  return (code === "untrusted" ? optional : missing)(name, messageOf(error), action);
}

interface Outcome {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end; never throws for a status. 127: there is no such program. */
export function run(command: string, args: readonly string[], timeout = 60_000): Promise<Outcome> {
  return new Promise((done) => {
    const options = {
      // Never the current folder: `python3 -m pip` would run a `pip.py` there.
      cwd: existsSync(nativeRoot()) ? nativeRoot() : parse(process.cwd()).root,
      timeout,
      windowsHide: true,
      env: { ...process.env, TF_CPP_MIN_LOG_LEVEL: "2" },
    };
    execFile(command, args, options, (error: ExecFileException | null, stdout, stderr) => {
      const status = error === null ? 0 : typeof error.code === "number" ? error.code : 127;
      done({ status, stdout: stdout.trim(), stderr: stderr.trim() });
    });
  });
}

/** The error in what a Node process printed. */
const reasonIn = (stderr: string): string => /Error: .*/.exec(stderr)?.[0] ?? stderr.split("\n").at(-1) ?? "";

/** Whether a Node version is new enough: 20.19. */
export function isSupported(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > 20 || (major === 20 && minor >= 19);
}

export function checkNode(): Check {
  const recorded = recordedNode();
  const here = `${process.versions.node} (${process.execPath})`;
  if (!isSupported(process.versions.node))
    return missing("Node", `${here} is older than 20.19`, installCommand("newerNode"));
  if (recorded === undefined)
    return optional("Node", `${here}; nothing is built for it yet: the first run builds it`, engineFix());
  return ok(
    "Node",
    recorded.version === process.versions.node
      ? here
      : `${here}; the daemon and runs use ${recorded.version} (${recorded.path})`,
  );
}

async function firstThatAnswers(
  commands: readonly string[],
  args: readonly string[],
): Promise<string | undefined> {
  for (const command of commands) {
    const { status, stdout } = await run(command, args);
    if (status === 0) return `${command}: ${stdout.split("\n")[0] ?? ""}`;
  }
  return undefined;
}

/** What only builds or fetches is no fault of the machine: it is missed when that is to be done. */
async function checkTool(
  name: string,
  commands: readonly string[],
  args: readonly string[],
  need: string,
  fix: string,
): Promise<Check> {
  const found = await firstThatAnswers(commands, args);
  return found === undefined ? optional(name, `none found; ${need}`, fix) : ok(name, found);
}

const named = process.env["CXX"];
/** A checkout builds SQLite and the engine's addon; a package brings them along. */
export const checkCompiler = async (): Promise<readonly Check[]> =>
  isCheckout()
    ? [
        await checkTool(
          "C++ compiler",
          [...(named ? [named] : []), "g++", "c++", "clang++"],
          ["--version"],
          "a checkout builds SQLite with it, and without it takes one that comes built",
          installCommand("compiler"),
        ),
      ]
    : [];
export const checkPython = (): Promise<Check> =>
  checkTool(
    "Python with pip",
    pythonNames(),
    ["-m", "pip", "--version"],
    "rewards in Python run on it; the engine's library is fetched without it, where an index is named in UV_DEFAULT_INDEX or uv is there",
    installCommand("python"),
  );

const sqliteProbe = `
const [, name, binding] = process.argv;
const Database = require(name);
const database = new Database(":memory:", binding ? { nativeBinding: binding } : {});
const { version } = database.prepare("select sqlite_version() as version").get();
console.log("SQLite " + version);`;

/** Why it is not better-sqlite3, and what it cannot do as well. */
function whyLibsql(): string {
  const record = setupRecord()?.sqlite;
  const reason = record?.driver === "libsql" ? record.reason : "named by GRADUS_SQLITE";
  return `${reason}; it cuts the names of groups, tasks and metrics at a NUL character in answers; the logs keep them whole`;
}

/** In this process: WebAssembly that fails throws. */
function checkCarriedSqlite(): Check {
  const name = "node-sqlite3-wasm";
  try {
    const { Database }: { readonly Database: WasmConstructor } = requireCarried(name);
    const database = new Database(":memory:");
    database.exec("SELECT 1");
    database.close();
    const detail = `${name} ${carriedVersion(name)}, in WebAssembly: twice as slow to write, and the same otherwise`;
    return ok("SQLite", detail);
  } catch (error) {
    const detail = `${name} does not open a database: ${messageOf(error)}`;
    return missing("SQLite", detail, engineFix());
  }
}

export async function checkSqlite(): Promise<Check> {
  const driver = sqliteDriver();
  if (driver === "node-sqlite3-wasm") return checkCarriedSqlite();
  const binding = driver === "better-sqlite3" ? sqliteBinding() : undefined;
  const { status, stdout, stderr } = await run(process.execPath, [
    "-e",
    sqliteProbe,
    driver,
    ...(binding === undefined ? [] : [binding]),
  ]);
  if (status !== 0)
    return missing("SQLite", `${driver} does not open a database: ${reasonIn(stderr)}`, engineFix());
  return ok(
    "SQLite",
    `${driver} ${nativeVersion(driver)}, ${stdout}${driver === "libsql" ? ` (${whyLibsql()})` : ""}`,
  );
}

interface Systems {
  systemOf(): string;
  partsOf(system: string): object | undefined;
  whyNone(system: string): string;
}
/** Which back-end a run would use, found by computing with it. @param named another system than this one */
export async function checkEngine(named?: string): Promise<Check & { readonly backend: "native" | "wasm" }> {
  const record = setupRecord()?.engine;
  const { systemOf, partsOf, whyNone } = await loadScript<Systems>("setup", "systems.mjs");
  const system = named ?? systemOf();
  // Nothing that is missed: there is none to be installed.
  if (partsOf(system) === undefined) {
    const detail = `WebAssembly, ${slower}: ${whyNone(system)}`;
    return { ...optional("engine", detail, elsewhere(system)), backend: "wasm" };
  }
  const addon = engineAddon();
  const proof = join(setupScripts(), "setup", "proveEngine.mjs");
  const { status, stdout, stderr } =
    addon === undefined
      ? { status: 1, stdout: "", stderr: "it is not installed" }
      : await run(process.execPath, [proof, addon]);
  if (status === 0)
    return {
      name: "engine",
      status: "ok",
      backend: "native",
      detail: `native: ${stdout.split("\n").at(-1) ?? ""}, ${record?.folder ?? ""}`,
    };
  const reason = record?.backend === "wasm" ? record.reason : reasonIn(stderr);
  return {
    name: "engine",
    status: "missing",
    backend: "wasm",
    detail: `WebAssembly, ${slower}: ${reason}`,
    fix: record?.mend ?? engineFix(),
  };
}

const browsers = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

export async function checkBrowser(): Promise<Check> {
  const chosen = process.env["CHROMIUM"];
  const found = await firstThatAnswers(chosen ? [chosen] : browsers, ["--version"]);
  if (found !== undefined) return ok("Chromium (tests)", found);
  return optional(
    "Chromium (tests)",
    "none found; only the webview, workbench and scenario tests need it",
    installCommand("browser"),
  );
}

export function checkData(): Check {
  const folder = dataFolder();
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
    const { bavail, bsize } = statfsSync(folder);
    const free = (Number(bavail) * Number(bsize)) / 1e9;
    const detail = `${folder}, ${free.toFixed(1)} GB free`;
    return free < 1
      ? missing("data folder", detail, "free some space, or name another folder with GRADUS_DATA")
      : ok("data folder", detail);
  } catch (error) {
    return missing("data folder", messageOf(error), "name a folder you may write to with GRADUS_DATA");
  }
}

function ownStore(store: string): Check {
  try {
    refuseOthers(store, "store");
    return ok("store", store);
  } catch (error) {
    return unseen("store", error);
  }
}

/** The store that commands started in `folder` would use: the nearest folder above that has one. */
export function checkStore(folder: string): Check {
  for (let at = resolve(folder); ; at = dirname(at)) {
    if (existsSync(join(at, ".gradus"))) return ownStore(join(at, ".gradus"));
    if (at === parse(at).root)
      return ok("store", `none yet; the first run makes ${join(resolve(folder), ".gradus")}`);
  }
}
