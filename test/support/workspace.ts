/** A workspace in a temporary folder with the bundled command line, a daemon and workers of its own. */
import { spawn, type ChildProcess } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { z } from "zod";
import { isAlive } from "../../shared/daemon/process.ts";
import { readWorker } from "../../shared/run/lease.ts";
import { runHosted, type Ended } from "./commandHost.ts";
import { settled } from "./until.ts";

const cli = resolve("dist/cli.mjs");

const lineSchema = z.looseObject({
  type: z.string().default(""),
  step: z.number().optional(),
  run: z.string().optional(),
  status: z.string().optional(),
});
export type Line = z.output<typeof lineSchema>;

/** What a command has written: JSON, a value a line. */
export class Said {
  readonly lines: Line[] = [];
  /** The whole of stdout: a command that writes one JSON value writes it so. */
  text = "";
  stderr = "";

  protected take(line: string): void {
    this.text += `${line}\n`;
    this.lines.push(lineSchema.parse(JSON.parse(line)));
  }
  of(type: string): Line[] {
    return this.lines.filter((line) => line.type === type);
  }
}

/** What a command has written, and its exit code. */
export class Finished extends Said {
  readonly code: number | null;

  constructor({ code, stdout, stderr }: Ended) {
    super();
    this.code = code;
    this.stderr = stderr;
    if (stdout !== "") for (const line of stdout.trimEnd().split("\n")) this.take(line);
  }
}

/** A command that runs. */
export class Talk extends Said {
  private readonly done: Promise<number | null>;
  private readonly said = new EventEmitter();

  constructor(readonly child: ChildProcess) {
    super();
    this.done = once(child, "close").then(([code]) => z.number().nullable().parse(code));
    createInterface({ input: child.stdout! }).on("line", (text) => {
      this.take(text);
      this.said.emit("more");
    });
    child.stderr!.on("data", (data: Buffer) => {
      this.stderr += data.toString();
      this.said.emit("more");
    });
  }

  /** Its exit code, once it has ended. What goes on writing is waited for. */
  get ended(): Promise<number | null> {
    return this.toItsEnd();
  }
  private async toItsEnd(): Promise<number | null> {
    while ((await this.next()) === "more");
    return this.done;
  }

  /** Waits until it holds; an ended process that never made it so is an error with what it said. */
  async until(holds: (talk: this) => boolean): Promise<void> {
    while (!holds(this)) {
      if ((await this.next()) === "over" && !holds(this))
        throw new Error(
          `it ended first; stderr: ${this.stderr}; last lines: ${JSON.stringify(this.lines.slice(-3))}`,
        );
    }
  }

  private next(): Promise<"more" | "over"> {
    const more = once(this.said, "more").then(() => "more" as const);
    const over = this.done.then(() => "over" as const);
    const last = JSON.stringify(this.lines.at(-1) ?? this.child.spawnargs);
    return settled(Promise.race([more, over]), `what comes after ${last}`);
  }
}

export class Workspace {
  private readonly base = mkdtempSync(join(tmpdir(), "gradus-ws-"));
  readonly folder: string;
  private readonly runtime = mkdtempSync(join(tmpdir(), "gradus-rt-"));
  readonly config: string;
  readonly store: string;
  private readonly children = new Set<ChildProcess>();

  /** @param inside a folder to make below the temporary one, for paths of a special kind */
  constructor(inside = ".") {
    this.folder = join(this.base, inside);
    this.config = join(this.folder, "minimal.gradus.yaml");
    this.store = join(this.folder, ".gradus");
    mkdirSync(this.folder, { recursive: true });
    cpSync(resolve("examples/minimal"), this.folder, { recursive: true });
    mkdirSync(this.store);
  }

  private get environment(): NodeJS.ProcessEnv {
    return { ...process.env, XDG_RUNTIME_DIR: this.runtime };
  }

  /** A command in a process of its own, which may be listened to and ended. */
  start(...words: string[]): Talk {
    const child = spawn(process.execPath, [cli, ...words], {
      cwd: this.folder,
      env: this.environment,
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.children.add(child);
    child.once("close", () => this.children.delete(child));
    return new Talk(child);
  }

  async finish(...words: string[]): Promise<Finished> {
    return new Finished(await runHosted(cli, words, this.folder, this.environment));
  }

  runFolder(run: string): string {
    return join(this.store, "runs", run);
  }
  worker(run: string): { readonly pid: number; readonly attempt: number } {
    return z
      .object({ pid: z.number(), attempt: z.number() })
      .parse(JSON.parse(readFileSync(join(this.runFolder(run), "worker.json"), "utf8")));
  }

  /** Ends the daemon; runs go on. */
  async end(): Promise<void> {
    await this.finish("daemon", "stop", "--force", "--json");
  }

  /** Ends what was started here and removes the files, also where a test has failed in the middle. */
  async remove(): Promise<void> {
    for (const child of this.children) child.kill("SIGKILL");
    await this.end();
    const runs = join(this.store, "runs");
    const workers = existsSync(runs) ? readdirSync(runs).map((run) => readWorker(this.runFolder(run))) : [];
    for (const worker of workers) if (worker !== null && isAlive(worker)) process.kill(worker.pid, "SIGKILL");
    for (const folder of [this.base, this.runtime])
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
