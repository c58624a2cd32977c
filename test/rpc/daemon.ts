/** A store of its own in a runtime folder of its own, and everything that was started in it ended afterwards. */
import { spawn, type ChildProcess } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
  existsSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { MessageConnection } from "vscode-jsonrpc/node";
import { connectOrStart, type StartWish } from "../../shared/daemon/connect.ts";
import { readDiscovery, type Discovery } from "../../shared/daemon/discovery.ts";
import type { DaemonLink } from "../../shared/daemon/handshake.ts";
import { isAlive, isRunning } from "../../shared/daemon/process.ts";
import { ask } from "../../shared/daemon/request.ts";
import { runtimePaths } from "../../shared/daemon/runtime.ts";
import { runsShow, runsStart, type RunDetail } from "../../shared/protocol/protocol.ts";
import { readWorker } from "../../shared/run/lease.ts";
import { programs } from "../support/cli.ts";
import { runHosted, type Ended } from "../support/commandHost.ts";
import { until } from "../support/until.ts";

export { until };

const config = `name: mini
tasks: [{ env: countdown, numbers: [3] }]
reward: { terms: { correct: { use: equation } } }
steps: 5
`;

export class Sandbox {
  readonly base = mkdtempSync(join(tmpdir(), "gradus-rpc-"));
  readonly store = join(this.base, "project", ".gradus");
  readonly file = join(this.base, "project", "mini.gradus.yaml");
  private readonly links: DaemonLink[] = [];
  private readonly pids = new Set<number>();
  private readonly children = new Set<ChildProcess>();
  private readonly before = process.env["XDG_RUNTIME_DIR"];

  private constructor(
    readonly cli: string,
    private readonly worker: string,
  ) {
    mkdirSync(join(this.base, "run"), { mode: 0o700 });
    process.env["XDG_RUNTIME_DIR"] = join(this.base, "run");
    mkdirSync(this.store, { recursive: true });
    writeFileSync(this.file, config);
  }

  static async make(): Promise<Sandbox> {
    const { cli, worker } = await programs();
    return new Sandbox(cli, worker);
  }

  wish(more: Partial<StartWish> = {}): StartWish {
    return {
      store: this.store,
      role: "command",
      version: "0.1.0",
      node: process.execPath,
      cli: this.cli,
      environment: { GRADUS_WORKER_ENTRY: this.worker, GRADUS_IDLE_MS: "60000" },
      ...more,
    };
  }

  async link(more: Partial<StartWish> = {}): Promise<DaemonLink> {
    const link = await connectOrStart(this.wish(more));
    this.links.push(link);
    this.pids.add(link.hello.pid);
    return link;
  }

  async connect(more: Partial<StartWish> = {}): Promise<MessageConnection> {
    return (await this.link(more)).connection();
  }

  discovery(): Discovery | null {
    return readDiscovery(runtimePaths(this.store).discovery);
  }

  async start(connection: MessageConnection, steps = 40, delay = 20): Promise<string> {
    return (await ask(connection, runsStart, { file: this.file, steps, seed: delay })).run;
  }

  folder(run: string): string {
    return join(this.store, "runs", run);
  }

  workerOf(run: string): number {
    const worker = readWorker(this.folder(run));
    // Only what lives here: a pid of another PID namespace is some other process.
    if (worker !== null && isAlive(worker)) this.pids.add(worker.pid);
    return worker?.pid ?? 0;
  }

  async reach(
    connection: MessageConnection,
    run: string,
    holds: (detail: RunDetail) => boolean,
  ): Promise<RunDetail> {
    return until(async () => {
      const detail = await ask(connection, runsShow, { run });
      return holds(detail) && detail;
    }, `run ${run}`);
  }

  /** Ends what was started here, by pid, and removes the files. */
  async end(): Promise<void> {
    for (const link of this.links) link.close();
    for (const child of this.children) child.kill("SIGKILL");
    const found = this.discovery();
    if (found !== null && isAlive(found)) this.pids.add(found.pid);
    const runs = join(this.store, "runs");
    for (const run of existsSync(runs) ? readdirSync(runs) : []) this.workerOf(run);
    for (const pid of this.pids) kill(pid, "SIGKILL");
    await until(() => [...this.pids].every((pid) => !isRunning(pid)), "processes to end");
    if (this.before === undefined) delete process.env["XDG_RUNTIME_DIR"];
    else process.env["XDG_RUNTIME_DIR"] = this.before;
    rmSync(this.base, { recursive: true, force: true });
  }

  log(): string {
    return readFileSync(join(this.store, "daemon.log"), "utf8");
  }

  private get environment(): NodeJS.ProcessEnv {
    return { ...process.env, GRADUS_WORKER_ENTRY: this.worker };
  }

  /** Runs `gradus …` in the project to its end. */
  finish(...words: readonly string[]): Promise<Ended> {
    return runHosted(this.cli, words, join(this.base, "project"), this.environment);
  }

  /** A command in a process of its own, which may be listened to and ended. */
  spawn(words: readonly string[]): ChildProcess {
    const child = spawn(process.execPath, [this.cli, ...words], {
      cwd: join(this.base, "project"),
      env: this.environment,
    });
    this.children.add(child);
    child.once("close", () => this.children.delete(child));
    return child;
  }
}

export function kill(pid: number, signal: NodeJS.Signals): void {
  if (pid > 0 && isRunning(pid)) process.kill(pid, signal);
}
