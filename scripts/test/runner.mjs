// Runs one program of the tests: streams its output, reads its counts, ends it and everything it started.
import { spawn } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";

// oxlint-disable-next-line no-control-regex
const colours = /\u001b\[[0-9;]*m/g;

/** The heading of the failed tests, which are repeated at the end of a program. */
const failing = { node: /^✖ failing tests:$/, mocha: /^ {2}\d+ failing$/ };

/** Counts as node's spec reporter and mocha print them; several summaries add up. */
export class Counter {
  constructor(style = "node") {
    this.style = style;
  }

  passed = 0;
  failed = 0;
  skipped = 0;
  /** Names of skipped tests with their reasons. */
  reasons = [];
  /** What the program prints of the tests that failed: all that follows its headline. */
  failures = [];
  #failing = false;

  line(raw) {
    const line = raw.replace(colours, "");
    if (this.#failing) this.failures.push(line);
    if (failing[this.style].test(line)) this.#failing = true;
    const node = /^ℹ (pass|fail|cancelled|skipped|todo) (\d+)$/.exec(line);
    if (node !== null) this.#add(node[1], Number(node[2]));
    const mocha = /^ {2}(\d+) (passing|failing|pending)/.exec(line);
    if (mocha !== null) this.#add(mocha[2], Number(mocha[1]));
    const pattern = this.style === "mocha" ? /^\s{2,}- (.+)$/ : /^\s*﹣ (.*?) \([\d.]+ms\)(?: # (.*))?$/;
    const skipped = pattern.exec(line);
    if (skipped !== null)
      this.reasons.push(
        skipped[2] === undefined || skipped[2] === "SKIP" ? skipped[1] : `${skipped[1]}: ${skipped[2]}`,
      );
  }

  #add(kind, count) {
    if (kind === "pass" || kind === "passing") this.passed += count;
    else if (kind === "fail" || kind === "cancelled" || kind === "failing") this.failed += count;
    else this.skipped += count;
  }
}

const groups = new Set();

function kill(pid, signal = "SIGKILL") {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (error.code !== "ESRCH") throw error;
  }
}

const end = (group, signal) => kill(-group, signal);

/** Ends every group still running and whatever left its group; for an interrupted `npm test`. */
export function endAll(mark) {
  groups.forEach((pid) => end(pid, "SIGKILL"));
  leftRunning(mark).forEach(({ pid }) => kill(pid));
}

/**
 * Runs a program in its own process group with a limit in seconds.
 * Returns {status, timedOut, seconds, counter, output}.
 */
export function runProgram(command, args, { env, limit, style, quiet = false }) {
  const started = Date.now();
  const counter = new Counter(style);
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      env: { ...process.env, ...env },
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    if (child.pid !== undefined) groups.add(child.pid);
    let rest = "";
    let output = "";
    let timedOut = false;
    const take = (chunk) => {
      if (!quiet) process.stdout.write(chunk);
      const lines = (rest + chunk.toString("utf8")).split("\n");
      rest = lines.pop();
      for (const line of lines) counter.line(line);
      output = (output + chunk.toString("utf8")).slice(-20_000);
    };
    child.stdout.on("data", take);
    child.stderr.on("data", take);
    const timer = setTimeout(() => {
      timedOut = true;
      // The first signal lets a test runner say which test it was in.
      end(child.pid, "SIGTERM");
      setTimeout(() => end(child.pid, "SIGKILL"), 5_000).unref();
    }, limit * 1000);
    const done = (status) => {
      clearTimeout(timer);
      if (rest !== "") counter.line(rest);
      if (child.pid !== undefined) {
        end(child.pid, "SIGKILL");
        groups.delete(child.pid);
      }
      resolve({ status, timedOut, seconds: (Date.now() - started) / 1000, counter, output });
    };
    child.once("error", (error) => {
      output += error.message;
      done(127);
    });
    child.once("close", (status, signal) => done(status ?? (signal === null ? 1 : 128)));
  });
}

/** Processes that carry `mark` in their environment: what a tier started and left. Linux only; elsewhere none are found. */
export function leftRunning(mark) {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((pid) => {
      try {
        if (!readFileSync(`/proc/${pid}/environ`, "latin1").includes(mark)) return [];
        const command = readFileSync(`/proc/${pid}/cmdline`, "latin1").replaceAll("\0", " ").trim();
        // A process that has ended but was not waited for has no command line.
        return command === "" ? [] : [{ pid: Number(pid), command }];
      } catch (error) {
        if (["ENOENT", "EACCES", "ESRCH"].includes(error.code)) return [];
        throw error;
      }
    });
}

/** Gives what a tier left `patience` seconds to end, then ends it. Returns what had to be ended. */
export async function sweep(mark, patience = 8) {
  const deadline = Date.now() + patience * 1000;
  while (leftRunning(mark).length > 0 && Date.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, 100));
  const left = leftRunning(mark);
  for (const { pid } of left) kill(pid);
  return left;
}
