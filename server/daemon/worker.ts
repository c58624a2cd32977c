/** Starting a run's process: detached, its output in a file, no channel to us. It outlives the daemon. */
import { spawn } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { ownPlace } from "../../shared/daemon/place.ts";
import { startOfChild } from "../../shared/daemon/process.ts";
import { restingFolder } from "../../shared/daemon/restingFolder.ts";
import { UserError } from "../../shared/lib/errors.ts";
import { liesIn } from "../../shared/lib/liesIn.ts";
import { readWorker, writeWorker } from "../../shared/run/lease.ts";
import { workerCommand } from "../../shared/run/run.ts";
import { readRunFile, workerLogPath } from "../store/files.ts";

export interface WorkerProgram {
  /** The Node that set-up recorded: the daemon's own. */
  readonly node: string;
  /** The bundled command line, or in tests another program that takes the same arguments. */
  readonly entry: string;
  readonly version: string;
}

/**
 * What a run's process begins with. How many threads it computes with is the engine's to say, which knows the model and
 * `engine.threads`; only what must be set before a process starts is here.
 */
export const workerEnvironment = (env: NodeJS.ProcessEnv, python?: string): NodeJS.ProcessEnv => ({
  TF_CPP_MIN_LOG_LEVEL: "2",
  ...env,
  ...(python === undefined ? {} : { GRADUS_PYTHON: python }),
});

export interface WorkerStart {
  /** The run's. */
  readonly folder: string;
  /** Its config: the process begins in its folder. */
  readonly file: string;
  readonly attempt: number;
  /** Besides the daemon's own. */
  readonly env?: NodeJS.ProcessEnv;
}

/** The config's, unless it is gone, or in the store itself, as of a run whose config was brought there. */
export const workingFolder = (runFolder: string, project: string): string =>
  existsSync(project) && !liesIn(project, resolve(runFolder, "..", "..")) ? project : restingFolder();

/**
 * Starts attempt `attempt` of the run and writes worker.json, which the worker then writes again with what it knows.
 * @param ended called when the process has ended, or could not be started
 */
export function startWorker(
  program: WorkerProgram,
  { folder: runFolder, file: configFile, attempt, env = {} }: WorkerStart,
  ended: () => void,
): void {
  const log = openSync(workerLogPath(runFolder), "a", 0o600);
  try {
    const child = spawn(
      program.node,
      [program.entry, workerCommand, runFolder, "--attempt", String(attempt)],
      {
        cwd: workingFolder(runFolder, dirname(configFile)),
        detached: true,
        windowsHide: true,
        stdio: ["ignore", log, log],
        env: workerEnvironment({ ...process.env, ...env }, readRunFile(runFolder)?.python),
      },
    );
    child.once("error", ended);
    child.once("exit", ended);
    child.unref();
    if (child.pid === undefined)
      throw new UserError(`The run's process could not be started with ${program.node}.`, {
        code: "refused",
        action: "Run `gradus doctor` to see what is missing.",
      });
    if (readWorker(runFolder)?.pid !== child.pid) {
      writeWorker(runFolder, {
        pid: child.pid,
        processStart: startOfChild(child.pid),
        place: ownPlace(),
        attempt,
        startedAt: new Date().toISOString(),
        version: program.version,
      });
    }
  } finally {
    closeSync(log);
  }
}

/** What TensorFlow says of itself at every start: `I0000 …`, and that it does so. */
const chatter =
  /^([IW]\d{4} |WARNING: All log messages before absl|To enable the following instructions: |\d{4}-\d\d-\d\d [\d:.]+: [IW] )/;
export const isChatter = (line: string): boolean => chatter.test(line);

/** The last lines that the worker printed, for a message. */
export function workerLogTail(runFolder: string, lines: number): string {
  const path = workerLogPath(runFolder);
  if (!existsSync(path)) return "";
  return readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "" && !isChatter(line))
    .slice(-lines)
    .join("\n");
}
