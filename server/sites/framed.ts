/**
 * A script handed to a shell that is started for it, here or at the other end of a connection. The script comes over stdin, before
 * its input: a command line has a limit, and the user's own shell there may be none of POSIX. Two marks around its output tell
 * what it printed from what a profile prints, and its exit code from that of the connection.
 */
import { randomBytes } from "node:crypto";
import type { ChildProcess } from "node:child_process";
import { setTimeout as wait } from "node:timers/promises";
import { endFamily } from "../lib/own/processGroup.ts";
import type { ShellAsk } from "./shell.ts";

export type Outcome =
  | { readonly state: "ended"; readonly code: number; readonly stdout: Buffer; readonly stderr: string }
  /** The program ended, and the script's own end was not seen. */
  | {
      readonly state: "broken";
      readonly code: number | null;
      readonly begun: boolean;
      readonly stderr: string;
    }
  | { readonly state: "late"; readonly seconds: number; readonly stderr: string };

const defaultSeconds = 60;
const stderrBytes = 64 * 1024;
/** Milliseconds that stderr may stay open after the end: a connection that is kept for later may hold it. */
const lingers = 100;

/**
 * What the shell is asked to run: one line without a quote, whatever shell reads it. `dd` takes the script and not a byte of the
 * input.
 */
export const frameLine = (mark: string, bytes: number): string =>
  `printf "%s\\n" ${mark}; (eval "$(dd bs=1 count=${bytes} 2>/dev/null)"); printf "\\n%s %s\\n" ${mark} $?`;

/** @param start starts a shell, as the leader of a process group, that runs a line: with pipes for all three streams */
export async function runFramed(
  start: (line: string) => ChildProcess,
  script: string,
  { input, signal, seconds = defaultSeconds }: ShellAsk = {},
): Promise<Outcome> {
  signal?.throwIfAborted();
  const mark = `gradus-${randomBytes(12).toString("hex")}`;
  const text = Buffer.from(script);
  const child = start(frameLine(mark, text.length));
  const streams = new Streams(child);
  // It may end before it has read all.
  child.stdin?.on("error", () => undefined);
  child.stdin?.write(text);
  child.stdin?.end(input);
  const over = new AbortController();
  const stop = (): void => over.abort();
  signal?.addEventListener("abort", stop, { once: true });
  const late = wait(seconds * 1000, "late" as const, { signal: over.signal }).catch(() => "aborted" as const);
  try {
    const ended = await Promise.race([streams.ended, late]);
    if (ended === "late") return { state: "late", seconds, stderr: streams.stderr };
    signal?.throwIfAborted();
    if (ended === "aborted") throw new Error("the shell was given up"); // Not reached: only the signal aborts.
    return outcome(mark, ended, streams);
  } finally {
    signal?.removeEventListener("abort", stop);
    over.abort();
    end(child);
  }
}

class Streams {
  readonly ended: Promise<number | null>;
  private readonly out: Buffer[] = [];
  private errors = Buffer.alloc(0);

  constructor(child: ChildProcess) {
    child.stdout?.on("data", (bytes: Buffer) => this.out.push(bytes));
    child.stderr?.on("data", (bytes: Buffer) => {
      this.errors = Buffer.concat([this.errors, bytes]).subarray(-stderrBytes);
    });
    const exit = new Promise<number | null>((done, failed) => {
      child.once("error", failed);
      child.once("exit", done);
    });
    const [read, said] = [child.stdout, child.stderr].map(
      (stream) => new Promise<void>((done) => stream?.once("close", () => done()) ?? done()),
    );
    this.ended = exit.then(async (code) => {
      await read;
      await Promise.race([said, wait(lingers)]);
      return code;
    });
    // Whoever gave it up asks no more.
    this.ended.catch(() => undefined);
  }

  get stdout(): Buffer {
    return Buffer.concat(this.out);
  }

  get stderr(): string {
    return this.errors.toString("utf8");
  }
}

function outcome(mark: string, code: number | null, { stdout, stderr }: Streams): Outcome {
  const first = stdout.indexOf(`${mark}\n`);
  const begun = first >= 0;
  const last = stdout.lastIndexOf(`\n${mark} `);
  const end = last < 0 ? null : /^\n\S+ (\d+)\n/.exec(stdout.toString("latin1", last));
  if (!begun || end === null) return { state: "broken", code, begun, stderr };
  return {
    state: "ended",
    code: Number(end[1]),
    stdout: stdout.subarray(first + mark.length + 1, last),
    stderr,
  };
}

/** With everything that it started and that did not leave its group. */
function end(child: ChildProcess): void {
  child.stdout?.destroy();
  child.stderr?.destroy();
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  endFamily(child.pid);
}
