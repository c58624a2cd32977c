/** Finds the daemon of a store, and starts it where there is none: one daemon per store, however many start at once. */
import { spawn as spawnProcess, type ChildProcess, type SpawnOptions } from "node:child_process";
import {
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  statfsSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { UserError, messageOf } from "../lib/errors.ts";
import { bundleFix } from "../lib/systemWords.mjs";
import { protocolVersion, type Role } from "../protocol/protocol.ts";
import { readDiscovery, type Discovery } from "./discovery.ts";
import { shakeHands, type DaemonLink } from "./handshake.ts";
import { takeLock } from "./lock.ts";
import { refuseLong } from "./longStore.ts";
import { isAlive, isElsewhere, mayBeAlive } from "./process.ts";
import { serveWords } from "./owner.ts";
import { refuseOthers } from "./ownership.ts";
import { restingFolder } from "./restingFolder.ts";
import { runtimePaths, type RuntimePaths } from "./runtime.ts";
import { putInPlace } from "../lib/putInPlace.mjs";

/** A starter that has held the lock for longer is stuck. */
const startLockAge = 30_000;
const startTimeout = 20_000;
const pollEvery = 20;
/** A daemon that closes the door on us may be ending: it has so long to be gone. */
const leavingTime = 2_000;
/** A longer daemon.log is set aside as daemon.log.1. */
export const daemonLogBytes = 4 * 1024 * 1024;

export interface ConnectWish {
  /** The store: a `.gradus` folder, see findStore. */
  readonly store: string;
  readonly role: Role;
  /** Of this client. An idle daemon of an older version is replaced. */
  readonly version: string;
}
export interface StartWish extends ConnectWish {
  /** The Node that runs the daemon and its workers: never the editor's own executable. */
  readonly node: string;
  /** The bundled command line, `dist/cli.mjs`. */
  readonly cli: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly spawn?: (
    command: string,
    commandArguments: readonly string[],
    options: SpawnOptions,
  ) => ChildProcess;
}

export const daemonLog = (store: string): string => join(store, "daemon.log");

/** The daemon that serves the store now; null when there is none. Throws a UserError when it refuses us. */
export async function connectExisting(wish: ConnectWish): Promise<DaemonLink | null> {
  if (!existsSync(wish.store)) return null;
  refuseOthers(wish.store, "store");
  return attach(runtimePaths(wish.store), wish);
}

/**
 * The daemon of the store, started if need be. A newer client replaces an idle older daemon; next to one with live runs
 * it attaches with mode `limited`. Of several starters one starts, the others wait and connect.
 */
export async function connectOrStart(wish: StartWish): Promise<DaemonLink> {
  refuseLong(wish.store);
  makeStore(wish.store);
  refuseOthers(wish.store, "store");
  const paths = runtimePaths(wish.store);
  const present = await attach(paths, wish);
  if (present !== null) {
    if (!isOlder(present.hello, wish)) return present;
    const replaced = await retire(present, paths);
    if (!replaced) return limitedLink(paths, wish, present);
  }
  return start(paths, wish);
}

function makeStore(store: string): void {
  try {
    mkdirSync(store, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw notWritable(store, error);
  }
}

/** A daemon is asked to leave through its own connection; the old one says no while runs are live. */
async function retire(link: DaemonLink, paths: RuntimePaths): Promise<boolean> {
  const connection = link.connection();
  const before = readDiscovery(paths.discovery);
  try {
    const answer = await connection.sendRequest<{ accepted: boolean }>("gradus/daemon/shutdown", {
      force: false,
    });
    if (!answer.accepted) return false;
    await until(
      () =>
        readDiscovery(paths.discovery)?.instance !== link.hello.instance &&
        (before === null || !isAlive(before)),
      startTimeout,
    );
    return true;
  } finally {
    connection.dispose();
    link.close();
  }
}

/** The connection over which we asked is spent: a fresh one, marked. */
async function limitedLink(paths: RuntimePaths, wish: ConnectWish, old: DaemonLink): Promise<DaemonLink> {
  const link = await attach(paths, wish);
  if (link !== null) return { ...link, mode: "limited" };
  throw new UserError(`The daemon of ${old.hello.store} stopped during the connection.`, {
    code: "daemon-gone",
    action: "Try again.",
  });
}

async function attach(paths: RuntimePaths, wish: ConnectWish): Promise<DaemonLink | null> {
  const discovery = readDiscovery(paths.discovery);
  // A process in another PID namespace cannot be seen, but its socket in a shared folder can be reached.
  if (discovery === null || !(mayBeAlive(discovery) || isElsewhere(discovery))) return null;
  try {
    const link = await shakeHands(discovery, { role: wish.role, version: wish.version });
    if (link.hello.instance === discovery.instance) return link;
    link.close();
    return null;
  } catch (error) {
    if (error instanceof UserError && error.detail.code !== "hello-failed") throw error;
    return stillServing(paths, discovery, error);
  }
}

/** Nothing listens on the socket: the daemon is gone or going, or the file is stale and its pid another process's. */
async function stillServing(paths: RuntimePaths, discovery: Discovery, error: unknown): Promise<null> {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOENT" || code === "ECONNREFUSED" || code === "ECONNRESET" || code === "EPIPE") return null;
  const deadline = performance.now() + leavingTime;
  while (performance.now() < deadline) {
    if (
      !(mayBeAlive(discovery) || isElsewhere(discovery)) ||
      readDiscovery(paths.discovery)?.instance !== discovery.instance
    )
      return null;
    await wait(pollEvery);
  }
  throw error;
}

/** Whether the daemon should make room: an older version, or an older protocol. */
function isOlder(
  daemon: { readonly version: string; readonly protocol: number },
  client: { readonly version: string },
): boolean {
  if (daemon.protocol !== protocolVersion) return daemon.protocol < protocolVersion;
  const [mine, theirs] = [client.version, daemon.version].map((version) =>
    version.split(/[.+-]/).slice(0, 3).map(Number),
  );
  for (let part = 0; part < 3; part++) {
    const difference = (mine?.[part] ?? 0) - (theirs?.[part] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return false;
}

async function start(paths: RuntimePaths, wish: StartWish): Promise<DaemonLink> {
  const deadline = performance.now() + startTimeout;
  for (;;) {
    const taken = takeLock(paths.startLock, { maximumAge: startLockAge });
    if (taken.state === "taken") {
      try {
        return (await attach(paths, wish)) ?? (await launch(paths, wish, deadline));
      } finally {
        taken.lock.release();
      }
    }
    const link = await attach(paths, wish);
    if (link !== null) return link;
    if (performance.now() > deadline)
      throw neverCame(wish, `another process (pid ${taken.by.pid}) has been starting it`);
    await wait(pollEvery);
  }
}

async function launch(paths: RuntimePaths, wish: StartWish, deadline: number): Promise<DaemonLink> {
  if (!existsSync(wish.cli))
    throw new UserError(`The daemon's program ${wish.cli} is missing.`, {
      file: wish.cli,
      code: "not-built",
      action: bundleFix(join(wish.cli, "..", "..")),
    });
  const before = statSync(daemonLog(wish.store), { throwIfNoEntry: false })?.size ?? 0;
  const child = spawned(wish);
  let ended: string | undefined;
  child.once("error", (error) => (ended = error.message));
  child.once(
    "exit",
    (code, signal) =>
      (ended ??= signal === null ? `it ended with code ${code}` : `it was ended by ${signal}`),
  );
  while (performance.now() < deadline) {
    const link = await attach(paths, wish);
    if (link !== null) return link;
    if (ended !== undefined) throw neverCame(wish, ended, before);
    await wait(pollEvery);
  }
  throw neverCame(wish, `it did not answer within ${startTimeout / 1000} s`, before);
}

function spawned(wish: StartWish): ChildProcess {
  const log = openLog(daemonLog(wish.store));
  try {
    const child = (wish.spawn ?? spawnProcess)(wish.node, [wish.cli, "daemon", ...serveWords, wish.store], {
      cwd: restingFolder(),
      detached: true,
      windowsHide: true,
      stdio: ["ignore", log, log],
      env: { ...process.env, ...wish.environment },
    });
    child.unref();
    return child;
  } finally {
    closeSync(log);
  }
}

const isLink = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;

const linkInStore = (path: string): UserError =>
  new UserError("The daemon's log is a link, and what it names would be written to.", {
    file: path,
    code: "store-link",
    action: "Remove the link and try again.",
  });

/** Appends; a log that has grown too long is set aside as `daemon.log.1`. */
function openLog(path: string): number {
  // A store may come from elsewhere: a link in the log's place would append to the file that it names.
  if (isLink(path)) throw linkInStore(path);
  try {
    if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > daemonLogBytes)
      putInPlace(path, `${path}.1`);
    return openSync(
      path,
      constants.O_APPEND | constants.O_CREAT | constants.O_WRONLY | (constants.O_NOFOLLOW ?? 0),
      0o600,
    );
  } catch (error) {
    throw notWritable(dirname(path), error);
  }
}

const notWritable = (store: string, error: unknown): UserError =>
  new UserError(`The store ${store} cannot be written: ${messageOf(error)}.`, {
    file: store,
    code: "store-not-writable",
    cause: error,
    action: "Make the folder writable, or choose another with --store FOLDER.",
  });

/** @param from where in the daemon's log this start begins: what earlier daemons logged is not its reason */
function neverCame(wish: StartWish, reason: string, from = Number.POSITIVE_INFINITY): UserError {
  const path = daemonLog(wish.store);
  const written = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
  const own = written.subarray(from > written.length && Number.isFinite(from) ? 0 : from);
  const tail = own.toString("utf8").trimEnd().split("\n").slice(-8).join("\n");
  const { bavail, bsize } = statfsSync(wish.store);
  return new UserError(`The daemon did not start: ${reason}.${tail === "" ? "" : `\n${tail}`}`, {
    file: path,
    code: "daemon-not-started",
    action:
      bavail * bsize < 1024 * 1024
        ? `The disk of ${wish.store} is full: free space on it.`
        : "`gradus doctor` says what is missing; the daemon's log says more.",
  });
}

async function until(holds: () => boolean, milliseconds: number): Promise<void> {
  const deadline = performance.now() + milliseconds;
  while (!holds()) {
    if (performance.now() > deadline)
      throw new UserError("The old daemon did not stop.", {
        code: "daemon-stuck",
        action: "Stop it yourself: gradus daemon stop.",
      });
    await wait(pollEvery);
  }
}
