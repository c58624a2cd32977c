// Running other programs. Set-up's own stdout must stay empty (a program may be reading it), so theirs goes to stderr.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline/promises";
import { installCommand } from "../../shared/lib/systemWords.mjs";

const running = new Set();

/**
 * Ends children when set-up itself ends early: a compiler must not run under a lock that is free. Only while there
 * are children: `bin/gradus` runs on in this process, and there a Ctrl-C means something else.
 */
process.on("exit", () => running.forEach((child) => child.kill("SIGTERM")));
const endings = [
  ["SIGHUP", 1],
  ["SIGINT", 2],
  ["SIGTERM", 15],
].map(([signal, number]) => [signal, () => process.exit(128 + number)]);

function started(child) {
  if (running.size === 0) for (const [signal, end] of endings) process.on(signal, end);
  running.add(child);
}

function ended(child) {
  running.delete(child);
  if (running.size === 0) for (const [signal, end] of endings) process.removeListener(signal, end);
}

/** The progress of a complete set-up: printed at the start of each of its lines. */
let steps;
export const startSteps = (count) => void (steps = { count, at: 0, since: Date.now() });
export const step = (at, what) => {
  if (steps !== undefined) steps.at = at;
  say(what);
};
export const endSteps = () => void (steps = undefined);

const clock = (milliseconds) => {
  const seconds = Math.round(milliseconds / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
};
const standing = () =>
  steps === undefined ? "" : `step ${steps.at} of ${steps.count}, ${clock(Date.now() - steps.since)}: `;

export const say = (text) => void process.stderr.write(`gradus set-up: ${standing()}${text}\n`);

/** A step failed for a reason the person can act on: `fix` is the command or sentence that does. */
export class SetupError extends Error {
  constructor(message, fix) {
    super(message);
    this.name = "SetupError";
    this.fix = fix;
  }
}

/** A copy of Windows' environment has the name as it is written there, and of two names that differ in case one is lost. */
const pathName = (env, platform) =>
  (platform === "win32" ? Object.keys(env).find((name) => name.toUpperCase() === "PATH") : undefined) ??
  "PATH";
const foldersOf = (env, platform) =>
  (env[pathName(env, platform)] ?? "").split(platform === "win32" ? ";" : ":").filter(Boolean);

/**
 * npm as [program, first words], undefined where there is none: the one that runs this, else the one that came with this Node, which
 * need not be on the PATH, else that of the PATH, as of Debian. On Windows what is there is no program, and its JavaScript lies next to it.
 */
export function npmOf({ platform, execPath, env }, exists = existsSync) {
  const running = /\bnpm-cli\.c?js$/.test(env.npm_execpath ?? "") ? [env.npm_execpath] : [];
  const around = [join(dirname(execPath), "..", "lib"), dirname(execPath)];
  const folders = foldersOf(env, platform);
  const scripts = [...around, ...(platform === "win32" ? folders : [])].map((folder) =>
    join(folder, "node_modules", "npm", "bin", "npm-cli.js"),
  );
  const script = [...running, ...scripts].find((file) => exists(file));
  if (script !== undefined) return [execPath, [script]];
  const program = folders.map((folder) => join(folder, "npm")).find((file) => exists(file));
  return platform === "win32" || program === undefined ? undefined : [program, []];
}

/** GRADUS_WITHOUT=compiler,pip,uv,npm hides what is there, to try the ways without. */
export const hidden = (name) => (process.env.GRADUS_WITHOUT ?? "").split(",").includes(name);

const ownNpm = () =>
  hidden("npm")
    ? undefined
    : npmOf({ platform: process.platform, execPath: realpathSync(process.execPath), env: process.env });
/** Whether there is an npm to start. */
export const hasNpm = () => ownNpm() !== undefined;

/** With this Node's folder on the PATH, since scripts of packages start `node`. */
export function withOwnNode(env, { platform, execPath } = process) {
  const [name, own, folders] = [pathName(env, platform), dirname(execPath), foldersOf(env, platform)];
  if (folders.includes(own)) return env;
  return { ...env, [name]: [...folders, own].join(platform === "win32" ? ";" : ":") };
}

const noNpm = { status: 127, output: "there is no npm next to this Node, and none on the PATH" };

/**
 * Runs a program to its end, its output kept and shown only when it fails (or at once with GRADUS_VERBOSE).
 * Returns {status, output}; never throws for a status.
 */
export function attempt(command, args, { cwd, env, timeout = 20 * 60_000 } = {}) {
  const found = command === "npm" ? ownNpm() : [command, []];
  if (found === undefined) return Promise.resolve(noNpm);
  const [program, words] = found;
  return new Promise((resolve) => {
    const child = spawn(program, [...words, ...args], {
      cwd,
      env: withOwnNode({ ...process.env, ...env }),
      stdio: ["ignore", "pipe", "pipe"],
    });
    started(child);
    const parts = [];
    const keep = (chunk) => {
      parts.push(chunk);
      if (process.env.GRADUS_VERBOSE) process.stderr.write(chunk);
    };
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
    const timer = setTimeout(() => child.kill("SIGKILL"), timeout);
    const end = (status, extra = "") => {
      clearTimeout(timer);
      ended(child);
      resolve({ status, output: Buffer.concat(parts).toString("utf8") + extra });
    };
    child.once("error", (error) => end(127, error.message));
    child.once("close", (status, signal) =>
      end(status ?? 128, signal === null ? "" : `\nended by ${signal}`),
    );
  });
}

/** Like `attempt`, but a status other than 0 throws with the last lines of the output. */
export async function must(command, args, { what, fix, ...options }) {
  const ended = await attempt(command, args, options);
  const { status, output } = ended;
  if (ended === noNpm) throw new SetupError(`${what} needs npm: ${output}`, installCommand("node"));
  if (status !== 0)
    throw new SetupError(`${what} failed (${command} ended with ${status})\n${bothEnds(output)}`, fix);
  return output;
}

/** All of what is done side by side has ended before the first failure is thrown: nothing works on under a free lock. */
export async function sideBySide(parts) {
  const ended = await Promise.allSettled(parts);
  const failed = ended.find(({ status }) => status === "rejected");
  if (failed !== undefined) throw failed.reason;
  return ended.map(({ value }) => value);
}

const indent = (lines) => lines.map((line) => `    ${line}`).join("\n");
export const lastLines = (text, count = 15) => indent(text.trimEnd().split("\n").slice(-count));

/** Both ends: npm says what is wrong first, a compiler last. */
function bothEnds(text, each = 8) {
  const lines = text.trimEnd().split("\n");
  return indent(lines.length <= 2 * each ? lines : [...lines.slice(0, each), "…", ...lines.slice(-each)]);
}

/** Whether a program answers `--version` (or the given arguments). */
export const answers = (command, args = ["--version"]) =>
  spawnSync(command, args, { stdio: "ignore" }).status === 0;

/** Asks on a terminal, where a mere Enter agrees; without one it is said, and done. */
export async function askOnTerminal(question) {
  say(question);
  if (!process.stdin.isTTY || !process.stderr.isTTY) return true;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return !/^n/i.test((await terminal.question("Continue? [Y/n] ")).trim());
  } finally {
    terminal.close();
  }
}
