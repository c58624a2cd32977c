/** A working tree as a person uses it: by its `gradus` command, in a project and with a daemon of its own. */
import { spawn } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { SameConfig } from "./configs.ts";

type Line = { readonly type?: string; readonly step?: number; readonly status?: string };

export class Tree {
  private readonly environment: NodeJS.ProcessEnv;

  constructor(
    private readonly folder: string,
    /** The same for all trees, one after the other: paths are written into runs. */
    private readonly project: string,
    runtime: string,
  ) {
    mkdirSync(runtime, { recursive: true, mode: 0o700 });
    this.environment = { ...process.env, XDG_RUNTIME_DIR: runtime, GRADUS_IDLE_MS: "5000" };
  }

  /** Trains a config to its end. Returns the run's folder, moved to `kept`. */
  async train({ text, files = {}, set = [], stopAt }: SameConfig, kept: string): Promise<string> {
    this.begin();
    writeFileSync(join(this.project, "c.gradus.yaml"), text);
    for (const [file, content] of Object.entries(files)) writeFileSync(join(this.project, file), content);
    const values = set.flatMap((value) => ["--set", value]);
    return this.play(["run", "c.gradus.yaml", ...values], kept, stopAt);
  }

  /** Trains the example of `from` as it is shipped. */
  async trainExample(from: string, kept: string): Promise<string> {
    this.begin();
    cpSync(join(from, "examples", "countdown"), this.project, { recursive: true });
    return this.play(["run", "countdown.gradus.yaml"], kept);
  }

  private begin(): void {
    rmSync(this.project, { recursive: true, force: true });
    mkdirSync(join(this.project, ".gradus"), { recursive: true });
  }

  private async play(command: readonly string[], kept: string, stopAt?: number): Promise<string> {
    let stopping: Promise<unknown> | undefined;
    await this.gradus(command, ({ type, step }) => {
      if (stopAt !== undefined && type === "step" && step !== undefined && step >= stopAt)
        stopping ??= this.gradus(["runs", "stop", "last"]);
    });
    await stopping;
    if (stopAt !== undefined) {
      if (stopping === undefined) throw new Error(`The run ended before step ${stopAt}.`);
      await this.gradus(["runs", "resume", "last"]);
      await this.gradus(["runs", "follow", "last"]);
    }
    await this.gradus(["daemon", "stop"]);
    const runs = join(this.project, ".gradus", "runs");
    const [run, another] = readdirSync(runs);
    if (run === undefined || another !== undefined) throw new Error(`${runs} does not hold one run.`);
    mkdirSync(join(kept, ".."), { recursive: true });
    renameSync(join(runs, run), kept);
    return kept;
  }

  private async gradus(words: readonly string[], see: (line: Line) => void = () => undefined): Promise<void> {
    const child = spawn(process.execPath, [join(this.folder, "bin", "gradus"), ...words, "--json"], {
      cwd: this.project,
      env: this.environment,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let complaint = "";
    child.stderr.on("data", (chunk: Buffer) => (complaint = (complaint + chunk.toString()).slice(-2_000)));
    for await (const line of createInterface({ input: child.stdout })) {
      const parsed: Line = JSON.parse(line);
      see(parsed);
      if (parsed.type === "summary" && parsed.status === "failed") complaint += line;
    }
    const status = child.exitCode ?? (await new Promise((done) => child.once("close", done)));
    if (status !== 0) throw new Error(`${this.folder}: gradus ${words.join(" ")}: ${complaint}`);
  }
}
