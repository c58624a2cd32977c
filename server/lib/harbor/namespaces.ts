/**
 * A small machine of namespaces (`unshare`): its own users, mounts, processes, network and host name. Its root is a tmpfs; of
 * the real file system it sees /usr, /etc and /opt, read-only. Linux only; no privileges are needed, and those of root are given up.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { UserError } from "../../../shared/lib/errors.ts";
import { dyingWithParent } from "../sandbox/wall/wall.ts";
import { limiting, watch, type Limits } from "./limits.ts";

/** Root on this machine is nobody there: what it may not do is then no question of what is hidden. */
const nobody = 65534;
const owner = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};

/** Mounts of its own that a process in it can neither move nor replace. */
const script = `
set -e
size="$1"
limit="$2"
for tool in setpriv prlimit taskset env bash tar; do
  [ -x "/usr/bin/$tool" ] || [ -x "/bin/$tool" ] || { echo "it has no $tool"; exit 1; }
done
# Over a folder that is everywhere; of this machine's own mounts nothing changes.
root=/tmp/root
mount -t tmpfs tmpfs /tmp
mkdir "$root"
mount -t tmpfs -o "size=$size,mode=755" tmpfs "$root"
cd "$root"
mkdir -p proc dev sys tmp run root home mnt srv media usr etc opt old tests logs var/tmp var/log var/lib/dpkg
chmod 1777 tmp var/tmp
seen() {
  [ -d "/$1" ] || return 0
  mkdir -p "$1"
  mount --rbind "/$1" "$1"
  mount -o remount,ro,bind "$1"
}
for dir in usr etc opt var/lib/dpkg bin sbin lib lib32 lib64; do seen "$dir"; done
mount -t proc proc proc
mount -t tmpfs -o size=1m,mode=755 tmpfs dev
for name in null zero full random urandom tty; do
  : > "dev/$name"
  mount --bind "/dev/$name" "dev/$name"
done
ln -s /proc/self/fd dev/fd
ln -s /proc/self/fd/0 dev/stdin
ln -s /proc/self/fd/1 dev/stdout
ln -s /proc/self/fd/2 dev/stderr
mkdir dev/shm
mount -t tmpfs -o size=64m tmpfs dev/shm
mkdir logs/agent logs/verifier logs/artifacts
# Whoever makes a namespace has mounts in it that no limit here sees.
echo 0 > proc/sys/user/max_user_namespaces
hostname harbor
ip link set lo up 2> /dev/null || :
pivot_root . old
cd /
umount -l /old
rmdir /old
echo ready
exec bash -c "$3" bash "$limit" < /dev/null 2> /dev/null
`;

/** What a process there may not: mount, enter, trace, make devices. */
const without = [
  "sys_admin",
  "sys_ptrace",
  "sys_chroot",
  "mknod",
  "sys_module",
  "sys_boot",
  "net_admin",
  "sys_resource",
  "sys_rawio",
];
const dropped = without.map((name) => `-${name}`).join(",");

export interface Finished {
  /** Both streams, as they came. */
  readonly output: string;
  /** null: it was ended. */
  readonly code: number | null;
  readonly isLate: boolean;
}

export interface Command {
  /** Program and arguments. */
  readonly argv: readonly string[];
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly seconds: number;
  /**
   * Absent: what a model or a task wrote, within the episode's limits. `manage`: outside them, so that it works whatever the
   * policy holds. `mount`: with the right to mount as well; never a shell, nor anything that reads the policy's files.
   */
  readonly as?: "manage" | "mount";
  readonly stdin?: Readable;
  readonly signal?: AbortSignal;
}

/** Characters of output that are kept. */
const mostKept = 1 << 20;

const refusal = (why: string): UserError =>
  new UserError(`This machine gives no namespaces to run Harbor tasks in: ${why}`, {
    code: "no-namespaces",
    action:
      "Run Gradus on Linux with util-linux, where users may make namespaces (sysctl kernel.unprivileged_userns_clone=1, user.max_user_namespaces above 0).",
  });

export class Namespaces {
  /** Why its processes were ended; undefined: they were not. */
  ended: string | undefined;
  /** What programs are started with. */
  private readonly limited: readonly string[];

  private constructor(
    private readonly holder: ChildProcess,
    private readonly pid: string,
    limits: Limits,
  ) {
    this.limited = limiting(limits);
    holder.stdout!.on("data", (text: string) => {
      this.ended ??= `its processes took ${text.trim()} MB of memory, and may take ${limits.memory} MB`;
    });
  }

  /** @throws UserError where this machine cannot */
  static async open(limits: Limits): Promise<Namespaces> {
    if (process.platform !== "linux") throw refusal(`it is ${process.platform}`);
    const flags = [
      "--user",
      "--map-root-user",
      "--mount",
      "--pid",
      "--net",
      "--ipc",
      "--uts",
      "--fork",
      "--kill-child",
    ];
    const size = `${limits.megabytes}m`;
    const memory = String(limits.memory * 1024);
    const [file = "", ...before] = (await dyingWithParent()).concat("unshare");
    const holder = spawn(file, [...before, ...flags, "sh", "-c", script, "sh", size, memory, watch], {
      stdio: ["ignore", "pipe", "pipe"],
      cwd: "/",
      env: { PATH: usualPath },
      ...owner,
    });
    const said = await firstWords(holder);
    if (said !== "ready") {
      holder.kill("SIGKILL");
      throw refusal(said);
    }
    const children = readFileSync(`/proc/${holder.pid}/task/${holder.pid}/children`, "utf8").trim();
    return new Namespaces(holder, children.split(" ")[0]!, limits);
  }

  /** Runs a program in it and waits for its end; what it started and left behind goes on. */
  async run(command: Command): Promise<Finished> {
    const { argv, folder, env, seconds, as, stdin, signal } = command;
    const enter = [
      "--target",
      this.pid,
      "--user",
      "--preserve-credentials",
      "--mount",
      "--pid",
      "--net",
      "--ipc",
      "--uts",
      "--",
    ];
    const rights = ["setpriv", `--bounding-set=${dropped}`, "--inh-caps=-all", "--no-new-privs"];
    const limits = as === "mount" ? [] : as === "manage" ? rights : [...this.limited, ...rights];
    const child = spawn("nsenter", [...enter, "/usr/bin/env", "-C", folder, ...limits, ...argv], {
      stdio: [stdin === undefined ? "ignore" : "pipe", "pipe", "pipe"],
      cwd: "/",
      env: { ...env },
      detached: true,
      ...owner,
    });
    if (stdin !== undefined) stdin.pipe(child.stdin as Writable);
    child.stdin?.on("error", () => undefined);
    const done = await finished(child, seconds, signal);
    // The end of a process is heard of before what the one that ended it says.
    if (done.code === null && !done.isLate && this.ended === undefined)
      await Promise.race([once(this.holder.stdout!, "data"), pause(200)]);
    return done;
  }

  /** Ends every process in it but the one that holds it. */
  async endProcesses(): Promise<void> {
    await this.run({
      argv: [...shell, "-c", "kill -9 -1; true"],
      folder: "/",
      env: {},
      seconds: 10,
      as: "manage",
    });
  }

  /** Ends it with all that runs in it. */
  async close(): Promise<void> {
    if (this.holder.exitCode === null && this.holder.signalCode === null) {
      const ended = once(this.holder, "exit");
      this.holder.kill("SIGKILL");
      await ended;
    }
  }
}

/**
 * A shell that reads no file of the home folder: bash takes a pipe of Node's for a connection of `rshd`, and then reads ~/.bashrc,
 * which a policy may have written.
 */
export const shell = ["/usr/bin/bash", "--norc", "--noprofile", "-p"];

/** Where programs are, there and here. */
export const usualPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** "ready", or why it is not. */
async function firstWords(holder: ChildProcess): Promise<string> {
  let errors = "";
  holder.stderr!.setEncoding("utf8").on("data", (text: string) => (errors += text));
  return new Promise((resolve) => {
    holder.stdout!.setEncoding("utf8").once("data", (text: string) => resolve(text.trim()));
    holder.once("error", (error) => resolve(error.message));
    holder.once("exit", (code) => resolve(errors.trim() || `unshare ended with ${code}`));
  });
}

function finished(child: ChildProcess, seconds: number, signal: AbortSignal | undefined): Promise<Finished> {
  let output = "";
  let isLate = false;
  const end = (): void => {
    // The whole group: what the command started in it, too.
    if (child.pid !== undefined) killGroup(child.pid);
  };
  const keep = (text: string): void => {
    if (output.length < mostKept) output += text;
  };
  child.stdout!.setEncoding("utf8").on("data", keep);
  child.stderr!.setEncoding("utf8").on("data", keep);
  const timer = setTimeout(() => {
    isLate = true;
    end();
  }, seconds * 1000);
  signal?.addEventListener("abort", end, { once: true });
  return new Promise((resolve, reject) => {
    const over = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
    };
    child.once("error", (error) => {
      over();
      reject(refusal(error.message));
    });
    child.once("exit", (code) => {
      over();
      const tell = (): void => {
        clearTimeout(drained);
        child.stdout!.destroy();
        child.stderr!.destroy();
        resolve({ output, code: isLate ? null : code, isLate });
      };
      // What runs on in the background holds the streams open: what the command itself wrote is there by then.
      const drained = setTimeout(tell, 200);
      child.once("close", tell);
    });
  });
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
