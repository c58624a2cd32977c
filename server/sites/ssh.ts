/**
 * A shell on another machine, by the system's own `ssh`: with its configuration, its keys and its agent. One connection is kept
 * for all scripts, and for a minute after the last.
 */
import { copiedWord } from "../../shared/lib/copiedWord.ts";
import { spawn, type ChildProcess } from "node:child_process";
import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { runtimeFolder } from "../../shared/daemon/runtime.ts";
import { UserError } from "../../shared/lib/errors.ts";
import { visibleText } from "../../shared/lib/visibleText.ts";
import { runFramed, type Outcome } from "./framed.ts";
import type { Shell, ShellAnswer, ShellAsk } from "./shell.ts";

/** A command line to use instead of `ssh`, as git's GIT_SSH_COMMAND. */
export const sshVariable = "GRADUS_SSH";

/** How this process reaches a host, for one that runs on another's behalf. */
export function reachingHere(): { readonly GRADUS_SSH?: string; readonly SSH_AUTH_SOCK?: string } {
  const { [sshVariable]: program, SSH_AUTH_SOCK: agent } = process.env;
  return {
    ...(program === undefined ? {} : { GRADUS_SSH: program }),
    ...(agent === undefined ? {} : { SSH_AUTH_SOCK: agent }),
  };
}

/** The connection counts as lost after so many seconds without an answer. */
const [askEvery, askTimes, connectWithin] = [5, 3, 10];
const keptFor = 60;
/** ssh adds 17 bytes while it makes the socket, whose path may have 104 on macOS. */
const longestSocket = 86;

export interface SshHost {
  /** As `ssh` takes it. */
  readonly host: string;
  readonly port?: number | undefined;
  /** How messages call it; default: the host. */
  readonly name?: string;
  /** Of whoever asks, where that is not this process: its agent, its GRADUS_SSH. */
  readonly env?: NodeJS.ProcessEnv;
}

export const ssh = (host: SshHost): Shell => new SshShell(host);

class SshShell implements Shell {
  readonly name: string;
  private readonly running = new Set<AbortController>();
  private readonly socket: string | undefined;

  constructor(private readonly host: SshHost) {
    this.name = host.name ?? host.host;
    this.socket = socketOf(host);
  }

  async run(script: string, ask: ShellAsk = {}): Promise<ShellAnswer> {
    ask.signal?.throwIfAborted();
    const stop = new AbortController();
    const forward = (): void => stop.abort();
    ask.signal?.addEventListener("abort", forward, { once: true });
    this.running.add(stop);
    try {
      const framed = runFramed((line) => this.start(line), script, { ...ask, signal: stop.signal });
      return this.answered(await framed.catch(withoutProgram));
    } finally {
      ask.signal?.removeEventListener("abort", forward);
      this.running.delete(stop);
    }
  }

  /** The connection is another process's, too: it ends by itself. */
  close(): void {
    for (const one of this.running) one.abort();
  }

  private start(line: string): ChildProcess {
    const { host, port } = this.host;
    const words = [
      ...["-T", "-o", "BatchMode=yes", "-o", `ConnectTimeout=${connectWithin}`],
      // What the user's configuration does in a terminal would get in the way here.
      ...["-o", "ClearAllForwardings=yes", "-o", "PermitLocalCommand=no", "-o", "RemoteCommand=none"],
      ...["-o", `ServerAliveInterval=${askEvery}`, "-o", `ServerAliveCountMax=${askTimes}`],
      ...(this.socket === undefined
        ? []
        : [
            ...["-o", "ControlMaster=auto", "-o", `ControlPersist=${keptFor}`],
            ...["-o", `ControlPath=${this.socket}`],
          ]),
      ...(port === undefined ? [] : ["-p", String(port)]),
      ...["--", host, `exec sh -c '${line}'`],
    ];
    const env = { ...process.env, ...this.host.env };
    const [program, before] = sshProgram(env);
    return spawn(program, [...before, ...words], {
      env,
      detached: process.platform !== "win32",
      windowsHide: true,
      stdio: "pipe",
    });
  }

  private answered(outcome: Outcome): ShellAnswer {
    if (outcome.state === "ended") return outcome;
    if (outcome.state === "late") {
      // Whatever holds the connection up would hold up the next one, too.
      if (this.socket !== undefined) rmSync(this.socket, { force: true });
      throw this.unreachable(`no answer within ${outcome.seconds} s`, outcome.stderr);
    }
    const { code, begun, stderr } = outcome;
    if (code === 255 || code === null || code === 0)
      throw this.unreachable(begun ? "the connection was lost" : "no connection", stderr);
    // The shell itself was ended, by its own script or from outside.
    if (begun) return { code, stdout: Buffer.alloc(0), stderr };
    throw new UserError(`${this.name} runs no POSIX shell: ${lastLine(stderr) ?? `exit code ${code}`}.`, {
      code: "site-no-shell",
      action: `See what \`${this.command} sh -c true\` says.`,
    });
  }

  private get command(): string {
    const { host, port } = this.host;
    return `ssh ${port === undefined ? "" : `-p ${port} `}${copiedWord(host)}`;
  }

  private unreachable(what: string, stderr: string): UserError {
    const said = lastLine(stderr);
    return new UserError(`${this.name} does not answer: ${said ?? what}.`, {
      code: "site-unreachable",
      action: `${reasonOf(stderr)} \`${this.command}\` in a terminal must connect without a question.`,
    });
  }
}

function socketOf({ host, port, env }: SshHost): string | undefined {
  if (process.platform === "win32") return undefined;
  const who = JSON.stringify([host, port, { ...process.env, ...env }[sshVariable]]);
  const socket = join(runtimeFolder(), `s${createHash("sha256").update(who).digest("hex").slice(0, 12)}`);
  // ssh would read these in a special way.
  const isPlain = !/[\s"'%]/.test(socket);
  return isPlain && Buffer.byteLength(socket) <= longestSocket ? socket : undefined;
}

/** The program, and what comes before its own arguments. */
function sshProgram({ [sshVariable]: named = "" }: NodeJS.ProcessEnv): readonly [string, readonly string[]] {
  if (named.trim() === "") return ["ssh", []];
  if (process.platform !== "win32") return ["sh", ["-c", `${named} "$@"`, "ssh"]];
  const [program = "ssh", ...words] = named.trim().split(/\s+/);
  return [program, words];
}

function withoutProgram(error: unknown): never {
  if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
  throw new UserError("There is no `ssh` on this machine.", {
    code: "site-no-ssh",
    cause: error,
    action: "Install OpenSSH's client, or name one in GRADUS_SSH.",
  });
}

/** Of the connection that is shared, and warnings: they say nothing of why it failed. */
const noise =
  /^(mux_client|Control socket|ControlSocket|Warning:|Shared connection|debug\d|\*\*|[@\s]*$|client_loop: )/;

function lastLine(stderr: string): string | undefined {
  const lines = stderr.split(/\r?\n/).filter((line) => !noise.test(line));
  const last = lines.at(-1)?.trim();
  return last === undefined ? undefined : visibleText(last.replace(/^ssh: /, "").replace(/\.$/, ""));
}

function reasonOf(stderr: string): string {
  if (/Host key verification failed|IDENTIFICATION HAS CHANGED/.test(stderr))
    return "Its host key is not known here, or has changed: compare the key and accept it.";
  if (/Permission denied/.test(stderr))
    return "No key that ssh may use without a password was accepted: add one to the agent with ssh-add.";
  if (/Could not resolve/.test(stderr)) return "Check the name: it is an alias of ~/.ssh/config, or a host.";
  return "Check that the machine is up and that this one is online.";
}
