/** Machines on which a package of ours is tried: this one with Node alone, and Windows by Wine. */
import { execFileSync, spawn, spawnSync, type ChildProcess } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, symlinkSync } from "node:fs";
import { once } from "node:events";
import { join } from "node:path";

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}
/** A command that goes on: what it has printed so far, and its end. */
export interface Started {
  readonly child: ChildProcess;
  printed(): string;
  readonly ended: Promise<Outcome>;
}
export interface Machine {
  /** A file of ours as this machine writes it. */
  path(file: string): string;
  start(words: readonly string[], folder: string): Started;
  gradus(words: readonly string[], folder: string): Promise<Outcome>;
  /** Ends a process of that machine, by its number there, without a word to it. */
  kill(pid: number): Promise<void>;
  close(): void;
}

/** Where a machine finds the program and an index, and the folder that is its own. */
export interface Setting {
  readonly program: string;
  readonly home: string;
  readonly index: string;
}

let files = 0;
/** Its output goes to files: Node for Windows cannot open Wine's pipes as those of its first process. */
function begun(
  [program, ...words]: readonly [string, ...string[]],
  cwd: string,
  env: Readonly<Record<string, string>>,
  home: string,
): Started {
  files += 1;
  const [out, err] = [join(home, `${files}.out`), join(home, `${files}.err`)];
  const [stdin, stdout, stderr] = [openSync("/dev/null", "r"), openSync(out, "w"), openSync(err, "w")];
  const child = spawn(program, words, { cwd, env, stdio: [stdin, stdout, stderr] });
  for (const descriptor of [stdin, stdout, stderr]) closeSync(descriptor);
  const ended = once(child, "close").then(([code]: (number | null)[]) => ({
    code: code ?? null,
    stdout: readFileSync(out, "utf8"),
    stderr: readFileSync(err, "utf8"),
  }));
  return { child, printed: () => readFileSync(out, "utf8"), ended };
}

/** This machine with nothing but Node on the PATH and an empty home: neither a compiler nor Python, nor npm. */
export function nodeAlone({ program, home, index }: Setting): Machine {
  const bin = join(home, "bin");
  mkdirSync(bin, { recursive: true });
  mkdirSync(join(home, "runtime"), { mode: 0o700 });
  symlinkSync(process.execPath, join(bin, "node"));
  const env = {
    HOME: home,
    PATH: bin,
    XDG_RUNTIME_DIR: join(home, "runtime"),
    UV_DEFAULT_INDEX: index,
    GRADUS_WITHOUT: "npm",
  };
  const start = (words: readonly string[], folder: string): Started =>
    begun([process.execPath, join(program, "bin", "gradus"), ...words], folder, env, home);
  return {
    path: (file) => file,
    start,
    gradus: (words, folder) => start(words, folder).ended,
    kill: (pid) => Promise.resolve(void process.kill(pid, "SIGKILL")),
    close: () => undefined,
  };
}

/** Undefined, or why there is no Wine; a Debian that lets us installs it. */
export function whyNoWine(): string | undefined {
  const there = (): boolean => spawnSync("wine", ["--version"]).status === 0;
  if (process.platform !== "linux" || process.arch !== "x64") return "Wine is for Linux on x64 here";
  if (there()) return undefined;
  if (process.getuid?.() !== 0 || spawnSync("apt-get", ["--version"]).status !== 0)
    return "there is no Wine here, and apt-get cannot install it";
  spawnSync("apt-get", ["install", "-y", "-q", "wine64", "wine"], {
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
  });
  return there() ? undefined : "the system's package manager has no Wine";
}

/** Node for another system, out of npm. */
export function nodeFor(system: "win-x64" | "linux-arm64", folder: string): string {
  mkdirSync(folder, { recursive: true });
  const spec = `node-${system}@${process.versions.node}`;
  const packed = execFileSync("npm", ["pack", "--silent", spec], { cwd: folder, encoding: "utf8" }).trim();
  execFileSync("tar", ["-xzf", packed], { cwd: folder });
  return join(folder, "package", "bin", system === "win-x64" ? "node.exe" : "node");
}

/** Node for Windows in a Wine of its own, with Wine's own runtime of C++ switched off: a bare Windows has none. */
export interface WineNode {
  readonly node: string;
  /** Where its disk C: is. */
  readonly disk: string;
  path(file: string): string;
  start(words: readonly string[], folder: string): Started;
  close(): void;
}

/** @param more of the environment, which has nothing of this process's */
export function wineNode(
  home: string,
  more: (path: WineNode["path"]) => Readonly<Record<string, string>>,
): WineNode {
  const node = nodeFor("win-x64", join(home, "node"));
  const prefix = join(home, "prefix");
  const path = (file: string): string => `Z:${file.replaceAll("/", "\\")}`;
  const env = {
    HOME: home,
    PATH: process.env["PATH"] ?? "",
    WINEPREFIX: prefix,
    WINEDEBUG: "-all",
    WINEDLLOVERRIDES: "mscoree,mshtml=;msvcp140,vcruntime140,vcruntime140_1=n",
    GRADUS_DATA: path(join(home, "data")),
    ...more(path),
  };
  // Else it is a Windows 7, which Node refuses: also in a process that is given no variable. This makes the disk, too.
  spawnSync("wine", ["winecfg", "-v", "win10"], { env, stdio: "ignore" });
  return {
    node,
    disk: join(prefix, "drive_c"),
    path,
    start: (words, folder) => begun(["wine", node, ...words], folder, env, home),
    close: () => {
      if (existsSync(prefix)) spawnSync("wineserver", ["-k"], { env });
    },
  };
}

/** Windows, as Wine plays it. */
export function wineMachine({ program, home, index }: Setting): Machine {
  const wine = wineNode(home, () => ({ UV_DEFAULT_INDEX: index }));
  const { path, close } = wine;
  const start = (words: readonly string[], folder: string): Started =>
    wine.start([path(join(program, "bin", "gradus")), ...words], folder);
  return {
    path,
    start,
    gradus: (words, folder) => start(words, folder).ended,
    kill: async (pid) => void (await wine.start(["-e", `process.kill(${pid}, "SIGKILL")`], home).ended),
    close,
  };
}
