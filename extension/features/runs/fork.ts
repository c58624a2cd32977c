/** Fork from a step: the run's config next to the file in the diff editor, then a new run from the nearest checkpoint. */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { Uri, commands as editor, window, type Disposable, type QuickPickItem } from "vscode";
import { views } from "../../../shared/editor/contributions.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import { formatBytes } from "../../../shared/lib/format.ts";
import { runsFork, runsShow, type ResultOf, type RunSummary } from "../../../shared/protocol/protocol.ts";
import { Nothing, execute, register } from "../../vscode/commands.ts";
import { setContext } from "../../vscode/context.ts";
import { Emitter } from "../connection/emitter.ts";
import { withBar, type Stores } from "../connection/stores.ts";
import { pythonPath } from "../language/python.ts";
import type { RunPanels } from "../panel/host.ts";
import type { MayStart } from "./commands.ts";
import { pickRun, savedConfig } from "./pick.ts";
import { configUri } from "./runFiles.ts";

/** A fork whose config is being edited. */
export interface PendingFork {
  readonly run: RunSummary;
  readonly step: number;
  /** The config that it will train on by. */
  readonly uri: Uri;
}

export class Forks implements Disposable {
  /** Lenses say what is about to be forked. */
  readonly changed = new Emitter<void>();
  #pending: PendingFork | undefined;
  readonly #disposables: readonly Disposable[];

  constructor(
    private readonly stores: Stores,
    private readonly panels: RunPanels,
    private readonly mayStart: MayStart,
  ) {
    this.#disposables = [
      register("runFork", (word, step) => this.#begin(word, step)),
      register("runLaunchFork", () => this.#launch()),
      register("runCancelFork", () => this.#set(undefined)),
    ];
  }

  /** Of a config, where a fork of it is being prepared. */
  pendingOf(uri: Uri): PendingFork | undefined {
    return this.#pending?.uri.toString() === uri.toString() ? this.#pending : undefined;
  }

  dispose(): void {
    for (const disposable of this.#disposables) disposable.dispose();
  }

  async #begin(word: unknown, given: unknown): Promise<void> {
    const run = await pickRun(this.stores, word, "Fork Run");
    if (run === undefined) return;
    const step = stepIn(given) ?? stepIn(word) ?? (await this.#pickStep(run));
    if (step === undefined) return;
    const file = Uri.file(run.file);
    if (!existsSync(run.file))
      throw new UserError(`The config ${run.file} of this run is gone.`, {
        action: `Put it back, or fork on the command line: gradus runs fork ${run.id} --step ${step}.`,
      });
    await editor.executeCommand(
      "vscode.diff",
      configUri(run.id, run.name),
      file,
      `${run.name}: fork from step ${step} (edit on the right)`,
      { preview: false },
    );
    await this.#set({ run, step, uri: file });
    // Not awaited: it stays while the config is edited. The diff editor shows no lenses.
    void this.#offer(run, step);
  }

  async #offer(run: RunSummary, step: number): Promise<void> {
    const answer = await window.showInformationMessage(
      `Edit the config on the right, then launch the fork of ${run.name} from step ${step}.`,
      "Launch Fork",
      "Cancel",
    );
    if (answer === "Launch Fork") await execute("runLaunchFork");
    if (answer === "Cancel") await this.#set(undefined);
  }

  async #pickStep(run: RunSummary): Promise<number | undefined> {
    const session = await this.stores.connected(this.stores.ofRun(run.id));
    const { checkpoints } = await session.ask(runsShow, { run: run.id });
    const items = checkpoints
      .filter(({ path }) => existsSync(path))
      .toReversed()
      .map(({ step, bytes }): QuickPickItem & { step: number } => ({
        label: `Step ${step}`,
        description: formatBytes(bytes),
        ...(step + 1 >= run.steps && {
          detail: "The end of its stages: to go on from here, add steps or a stage.",
        }),
        step,
      }));
    if (items.length === 0)
      throw new Nothing(
        `${run.name} has no checkpoint on disk, so nothing can be forked from it.`,
        "Set how often a run saves one: `checkpoint: { every, keep }`.",
      );
    const title = `Fork ${run.name} from a Checkpoint`;
    return (await window.showQuickPick(items, { title }))?.step;
  }

  async #launch(): Promise<void> {
    const pending = this.#pending;
    if (pending === undefined)
      throw new Nothing("No fork is being prepared.", "Choose Fork Run on a run or a checkpoint.");
    const { run, step, uri } = pending;
    await savedConfig(uri);
    // Declined, it stays prepared: the config may be edited further.
    if (!(await this.mayStart(uri))) return;
    const session = await this.stores.session(this.stores.ofRun(run.id));
    const key = randomUUID();
    const asked = { run: run.id, step, file: uri.fsPath, key, python: pythonPath() };
    const start = async (fresh: boolean): Promise<ResultOf<typeof runsFork>> =>
      withBar(views.runs, () => session.ask(runsFork, { ...asked, fresh }));
    const answer = await start(false).catch(async (error: unknown) => {
      if (!(await wantsFresh(error))) throw error;
      return start(true);
    });
    await this.#set(undefined);
    if (answer.step !== step)
      window.setStatusBarMessage(`$(git-branch) Forked from the checkpoint of step ${answer.step}`, 10_000);
    this.panels.show(answer.run, run.name);
  }

  async #set(pending: PendingFork | undefined): Promise<void> {
    this.#pending = pending;
    await setContext("forkPending", pending !== undefined);
    this.changed.fire();
  }
}

/** Of a fork that is refused since a part with a memory was changed: whether that memory may start from zero. */
async function wantsFresh(error: unknown): Promise<boolean> {
  if (!(error instanceof UserError) || ruleOf(error.detail.cause) !== "checkpoint-unclaimed") return false;
  const start = "Start from Zero";
  const detail = "Weights, optimiser and everything else are taken over.";
  return (await window.showWarningMessage(error.message, { modal: true, detail }, start)) === start;
}

function ruleOf(cause: unknown): unknown {
  if (typeof cause !== "object" || cause === null || !("data" in cause)) return undefined;
  const { data } = cause;
  return typeof data === "object" && data !== null && "rule" in data ? data.rule : undefined;
}

/** Of a row of the tree that is of a step, or a number. */
function stepIn(word: unknown): number | undefined {
  if (typeof word === "number") return word;
  if (typeof word !== "object" || word === null || !("step" in word) || !("run" in word)) return undefined;
  return typeof word.step === "number" && typeof word.run === "string" ? word.step : undefined;
}
