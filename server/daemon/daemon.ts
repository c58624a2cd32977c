/**
 * The daemon of one store: a socket, the store's thread, the supervisor and the watcher, put together. The main thread
 * parses and routes; SQLite is in its own thread, training in its own processes.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { chmodSync, lstatSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { daemonLog } from "../../shared/daemon/connect.ts";
import {
  readDiscovery,
  removeDiscovery,
  writeDiscovery,
  type Discovery,
} from "../../shared/daemon/discovery.ts";
import { takeLock, type Lock } from "../../shared/daemon/lock.ts";
import { refuseOthers } from "../../shared/daemon/ownership.ts";
import { ownIdentity } from "../../shared/daemon/process.ts";
import { runtimeFolder, runtimePaths, type RuntimePaths } from "../../shared/daemon/runtime.ts";
import { UserError, messageOf } from "../../shared/lib/errors.ts";
import { protocolVersion, type DaemonStatus, type HelloResult } from "../../shared/protocol/protocol.ts";
import { makeStore } from "../store/files.ts";
import { RemoteStore } from "../store/remote.ts";
import { Client } from "./client.ts";
import { OpenFileRuns } from "./fileRuns.ts";
import { handlersOf, type Handlers } from "./handlers.ts";
import { keepLogShort, log, logsTo } from "./log.ts";
import { Rescorer } from "./rescore/rescorer.ts";
import { RewardChecker } from "./rewardChecks/rewardChecker.ts";
import { Verdicts } from "./verdict/verdicts.ts";
import { Supervisor } from "./runs/supervisor.ts";
import { TokenReader } from "./tokens/tokenReader.ts";
import { watchRuns } from "./watch.ts";
import type { WorkerProgram } from "./worker.ts";

interface DaemonOptions {
  readonly store: string;
  readonly version: string;
  readonly worker: WorkerProgram;
  /** Milliseconds without client and live run after which it ends; 0: never. */
  readonly idle: number;
}

const upkeepEvery = 1_000;
const capabilities = ["runs", "queries", "feed", "language"] as const;

/** Runs until it is asked to end, or has nothing to do; then resolves. */
export async function runDaemon(options: DaemonOptions): Promise<void> {
  const paths = prepare(options.store);
  logsTo(daemonLog(paths.store));
  const owner = takeLock(paths.ownerLock);
  if (owner.state === "held")
    throw new UserError(`Another daemon (pid ${owner.by.pid}) serves ${paths.store}.`, {
      code: "busy",
      action: "Connect to it, or stop it: gradus daemon stop.",
    });
  const daemon = new StoreDaemon(options, paths, owner.lock);
  try {
    await daemon.run();
  } finally {
    await daemon.close();
  }
}

function prepare(store: string): RuntimePaths {
  makeStore(store);
  refuseOthers(store, "store");
  return runtimePaths(store);
}

class StoreDaemon {
  private discovery: Discovery;
  private readonly clients = new Set<Client>();
  private readonly handlers: Handlers;
  private server: Server | undefined;
  /** The socket's file as it was made: another in its place is not ours. */
  private socketFile = "";
  private repairing = false;
  private closing = false;
  private trouble = "";
  private readonly remote: RemoteStore;
  private readonly supervisor: Supervisor;
  private readonly fileRuns: OpenFileRuns;
  private readonly rescorer: Rescorer;
  private readonly checker = new RewardChecker();
  private readonly tokens: TokenReader;
  private readonly delay = monitorEventLoopDelay({ resolution: 5 });
  private idleSince = performance.now();
  private end: () => void = () => undefined;
  private readonly ended: Promise<void>;
  private timer: NodeJS.Timeout | undefined;
  private watcher: ReturnType<typeof watchRuns> | undefined;

  constructor(
    private readonly options: DaemonOptions,
    private readonly paths: RuntimePaths,
    private owner: Lock,
  ) {
    const instance = randomUUID();
    this.discovery = {
      instance,
      ...ownIdentity(),
      startedAt: new Date().toISOString(),
      socketPath: paths.socket(instance),
      token: randomBytes(32).toString("hex"),
      protocol: protocolVersion,
      version: options.version,
      node: process.execPath,
    };
    this.ended = new Promise((resolve) => (this.end = resolve));
    this.remote = new RemoteStore(paths.store, {
      onChanged: (cursor) => {
        this.clients.forEach((client) => client.grown(cursor));
        this.fileRuns.grown();
      },
      onProblem: (text) => log(text),
      onRebuilt: () => void this.supervisor.adopt().catch((error: unknown) => log(messageOf(error))),
      onExit: (error) => this.fail(`the store's thread ended: ${messageOf(error)}`),
    });
    this.rescorer = new Rescorer(this.remote, log);
    const verdicts = new Verdicts(this.remote, this.rescorer);
    this.fileRuns = new OpenFileRuns(this.remote, log, async (run) => (await verdicts.of({ run })).verdict);
    this.supervisor = new Supervisor(paths.store, this.remote, options.worker, log);
    this.tokens = new TokenReader(this.remote);
    this.handlers = handlersOf(
      this.remote,
      this.supervisor,
      this.rescorer,
      verdicts,
      this.checker,
      this.tokens,
      {
        status: () => this.status(),
        shutdown: () => setImmediate(() => setTimeout(this.end, 20)),
      },
    );
  }

  private accept(socket: Socket): void {
    const client = new Client(socket, {
      token: this.discovery.token,
      handlers: this.handlers,
      describe: () => this.describe(),
      changes: (parameters) => this.remote.call("changes", parameters),
      version: this.options.version,
      sources: { runs: this.fileRuns, remote: this.remote, rescorer: this.rescorer },
      log,
      closed: (gone) => this.clients.delete(gone),
    });
    this.clients.add(client);
  }

  async run(): Promise<void> {
    log(
      `serving ${this.paths.store}: ${await this.remote.call("driver")}, node ${process.version}, pid ${process.pid}`,
    );
    this.watcher = watchRuns(
      this.paths.store,
      (run) => void this.supervisor.touched(run).catch((error: unknown) => log(messageOf(error))),
      (error) => log(`watching: ${messageOf(error)}`),
    );
    // Where the tables turn out to be damaged they are built again, and adopted then.
    await this.supervisor.adopt().catch((error: unknown) => {
      if (!(error instanceof UserError) || error.detail.code !== "store-rebuilt") throw error;
    });
    await this.listen();
    writeDiscovery(this.paths.discovery, this.discovery);
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.once(signal, () => this.end());
    this.idleSince = performance.now();
    this.delay.enable();
    this.timer = setInterval(
      () => this.upkeep(),
      Math.min(upkeepEvery, Math.max(20, this.options.idle / 4 || upkeepEvery)),
    );
    await this.ended;
    log("ending");
  }

  /** Removes its own files only; runs go on. */
  async close(): Promise<void> {
    this.closing = true;
    clearInterval(this.timer);
    this.supervisor.close();
    this.fileRuns.close();
    removeDiscovery(this.paths.discovery, this.discovery.instance);
    this.server?.close();
    for (const client of [...this.clients]) client.close();
    if (process.platform !== "win32") rmSync(this.discovery.socketPath, { force: true });
    await Promise.all([this.rescorer.close(), this.checker.close(), this.tokens.close()]);
    await this.watcher?.close();
    await this.remote.close().catch((error: unknown) => log(`closing the store: ${messageOf(error)}`));
    this.owner.release();
  }

  /** On a socket of a new name: the old one may be another process's by now. */
  private async listen(): Promise<void> {
    const socketPath = this.paths.socket(randomUUID());
    const server = createServer((socket) => this.accept(socket));
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(socketPath, resolve);
    });
    server.on("error", (error) => log(`the socket: ${error.message}`));
    if (process.platform !== "win32") chmodSync(socketPath, 0o600);
    this.server?.close();
    this.server = server;
    this.discovery = { ...this.discovery, socketPath };
    this.socketFile = fileAt(socketPath);
  }

  private upkeep(): void {
    // One that has just come counts too: it would be turned away in the middle of its hello.
    if (this.clients.size > 0 || this.supervisor.liveRuns > 0) this.idleSince = performance.now();
    else if (this.options.idle > 0 && performance.now() - this.idleSince >= this.options.idle) this.end();
    keepLogShort();
    void this.repair();
  }

  /**
   * A cleaner of temporary folders may take a file, a logout the whole runtime folder: we would not be found, and no one
   * could start another. Whatever cannot be repaired now is tried again, and logged once.
   */
  private async repair(): Promise<void> {
    if (this.repairing || this.closing) return;
    this.repairing = true;
    try {
      runtimeFolder();
      this.holdLock();
      if (fileAt(this.discovery.socketPath) !== this.socketFile) {
        await this.listen();
        log("the socket was gone or belonged to another daemon: listening on a new one");
      }
      const written = readDiscovery(this.paths.discovery);
      if (written?.instance !== this.discovery.instance || written.socketPath !== this.discovery.socketPath)
        writeDiscovery(this.paths.discovery, this.discovery);
      this.trouble = "";
    } catch (error) {
      if (this.trouble !== messageOf(error)) log(`upkeep: ${messageOf(error)}`);
      this.trouble = messageOf(error);
    } finally {
      this.repairing = false;
    }
  }

  private holdLock(): void {
    if (this.owner.isOurs()) return this.owner.touch();
    const taken = takeLock(this.paths.ownerLock);
    if (taken.state === "held") throw new Error(`pid ${taken.by.pid} has taken ${this.paths.ownerLock}`);
    this.owner = taken.lock;
  }

  private fail(reason: string): void {
    log(reason);
    process.exitCode = 1;
    this.end();
  }

  private describe(): HelloResult {
    const { instance, pid, version, protocol, node } = this.discovery;
    return {
      instance,
      pid,
      version,
      protocol,
      node,
      store: this.paths.store,
      live: this.supervisor.liveRuns,
      capabilities,
    };
  }

  private async status(): Promise<DaemonStatus> {
    const greeted = [...this.clients].filter(({ role }) => role !== undefined).length;
    const milliseconds = (percentile: number): number =>
      Math.round(this.delay.percentile(percentile) / 1e4) / 100;
    return {
      ...this.describe(),
      startedAt: this.discovery.startedAt,
      clients: greeted,
      socket: this.discovery.socketPath,
      log: daemonLog(this.paths.store),
      idleSeconds:
        greeted > 0 || this.supervisor.liveRuns > 0
          ? null
          : Math.round((performance.now() - this.idleSince) / 1000),
      driver: await this.remote.call("driver"),
      eventLoop: { p50: milliseconds(50), p99: milliseconds(99) },
    };
  }
}

/** Which file is there: empty for none, and always the same for a named pipe of Windows, which is no file. */
function fileAt(path: string): string {
  if (process.platform === "win32") return path;
  const found = lstatSync(path, { throwIfNoEntry: false, bigint: true });
  return found === undefined || !found.isSocket() ? "" : `${found.dev}:${found.ino}:${found.birthtimeNs}`;
}
