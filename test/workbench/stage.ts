/** Runs in each state that a row can have for longer than a moment, made by real runs of two configs. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import * as vscode from "vscode";
import type { Api } from "../../extension/extension.ts";
import { runsList, type RunSummary } from "../../shared/protocol/protocol.ts";
import { isLive } from "../../shared/protocol/runStatus.ts";
import { readWorker } from "../../shared/run/lease.ts";
import { until } from "./support.ts";

/** Ends after a second, with rollouts, evaluations and checkpoints. */
const short = `name: short
model: { base: tiny }
tasks: [{ env: arithmetic }]
rollout: { prompts: 2, group: 4, max_tokens: 8 }
reward: { terms: { correct: { use: exact_match, weight: 1 } } }
stages:
  - { name: warm-up, kind: sft, steps: 2 }
  - { name: practise, kind: rl, steps: 4 }
evaluation: { every: 2, prompts: 4, pass_at: [1] }
checkpoint: { every: 2 }
seed: 1
`;
const swept = `extends: ./short.gradus.yaml\nname: swept\nsweep: { parameters: { rollout.prompts: { values: [1, 2] } } }\n`;

export type State = "running" | "paused" | "stopped" | "interrupted" | "finished";

interface Marks {
  readonly pinned?: boolean;
  readonly archived?: boolean;
}

export class Stage {
  readonly short: vscode.Uri;
  readonly swept: vscode.Uri;
  /** The run of the long config. */
  #long: string | undefined;

  /** @param long a config whose run does not end by itself */
  constructor(
    private readonly api: Api,
    private readonly long: vscode.Uri,
  ) {
    this.short = vscode.Uri.joinPath(long, "..", "short.gradus.yaml");
    this.swept = vscode.Uri.joinPath(long, "..", "swept.gradus.yaml");
    writeFileSync(this.short.fsPath, short);
    writeFileSync(this.swept.fsPath, swept);
  }

  find(id: string): RunSummary | undefined {
    return this.api.stores.runs.find((run) => run.id === id);
  }

  /** A run in this state, with these marks and no others. */
  async reach(state: State, marks: Marks = {}): Promise<RunSummary> {
    await this.#caughtUp();
    const run = state === "finished" ? await this.#finished() : await this.#lasting(state);
    return this.#marked(run, marks);
  }

  async #marked(
    { id, ...run }: RunSummary,
    { pinned = false, archived = false }: Marks,
  ): Promise<RunSummary> {
    if ((run.pinned ?? false) !== pinned)
      await vscode.commands.executeCommand(`gradus.run.${pinned ? "pin" : "unpin"}`, id);
    if ((run.archived ?? false) !== archived)
      await vscode.commands.executeCommand(`gradus.run.${archived ? "archive" : "unarchive"}`, id);
    return this.#wait(
      id,
      (now) => (now.pinned ?? false) === pinned && (now.archived ?? false) === archived,
      "its marks",
    );
  }

  async #finished(): Promise<RunSummary> {
    const known = this.api.stores.runs.find(
      ({ name, status, origin, parent }) =>
        name === "short" && status === "finished" && origin === undefined && parent === undefined,
    );
    return known ?? this.start(this.short, "finished");
  }

  async start(config: vscode.Uri, state: "running" | "finished"): Promise<RunSummary> {
    const before = new Set(this.api.stores.runs.map(({ id }) => id));
    await vscode.commands.executeCommand("gradus.run.start", config);
    const made = await this.#until(
      () => this.api.stores.runs.find(({ id, file }) => !before.has(id) && file === config.fsPath),
      "a run",
    );
    return this.#wait(made.id, ({ status }) => status === state, `a run that is ${state}`);
  }

  async #lasting(state: Exclude<State, "finished">): Promise<RunSummary> {
    const before = this.#long === undefined ? undefined : this.find(this.#long);
    if (before === undefined) this.#long = (await this.start(this.long, "running")).id;
    const id = this.#long ?? "";
    // The run may be between two states.
    const now = await this.#wait(
      id,
      ({ status }) => !["starting", "stopping", "reading"].includes(status),
      "rest",
    );
    if (now.status === state) return now;
    if (now.status !== "running") await this.#resume(id);
    if (state === "paused") await vscode.commands.executeCommand("gradus.run.pause", id);
    if (state === "stopped") await vscode.commands.executeCommand("gradus.run.stop", id);
    if (state === "interrupted") this.#kill(id);
    return this.#wait(id, ({ status }) => status === state, `a run that is ${state}`);
  }

  /** Again where a pause or an end that was on its way came after it. */
  async #resume(id: string): Promise<void> {
    for (;;) {
      await this.#caughtUp();
      const { status } = await this.#wait(
        id,
        (run) => !["starting", "stopping", "reading"].includes(run.status),
        "rest",
      );
      if (status === "running") return;
      await vscode.commands.executeCommand("gradus.run.resume", id);
    }
  }

  /** As a machine that goes down does. */
  #kill(id: string): void {
    const store = this.api.stores.ofRun(id);
    const worker = readWorker(join(store?.path ?? "", "runs", id));
    if (worker !== null) process.kill(worker.pid, "SIGKILL");
  }

  async endLive(): Promise<void> {
    for (const { id } of this.api.stores.live) await vscode.commands.executeCommand("gradus.run.stopNow", id);
    await until(() => this.api.stores.runs.every(({ status }) => !isLive(status)), "the runs to end");
  }

  /** The window hears of what a command has done a moment after its answer. */
  async #caughtUp(): Promise<void> {
    const shape = (runs: readonly RunSummary[]): string =>
      JSON.stringify(runs.map(({ id, status, pinned, archived }) => [id, status, pinned, archived]).sort());
    await until(async () => {
      for (const { machine, runs } of this.api.stores.all) {
        const listed = await machine.session?.ask(runsList, { limit: 1_000 });
        if (listed === undefined || shape(listed.runs) !== shape(runs.all)) return false;
      }
      return true;
    }, "the window to hear of all runs");
  }

  #wait(id: string, holds: (run: RunSummary) => boolean, what: string): Promise<RunSummary> {
    return this.#until(() => {
      const run = this.find(id);
      return run !== undefined && holds(run) && run;
    }, what).catch((error: unknown) => {
      throw new Error(`${String(error)}: ${JSON.stringify(this.find(id))}`);
    });
  }

  #until<T>(look: () => T | undefined | false, what: string): Promise<T> {
    return until(look, what) as Promise<T>;
  }
}
