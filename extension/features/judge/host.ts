/** The side in the editor of the page in which rollouts are labelled for a judge: one panel a run and term, restored after a reload. */
import { basename } from "node:path";
import {
  Uri,
  window,
  workspace,
  type Disposable,
  type TextDocument,
  type ViewColumn,
  type WebviewPanel,
} from "vscode";
import { panels } from "../../../shared/editor/contributions.ts";
import {
  judgeVersion,
  readJudgeState,
  type FromJudge,
  type JudgeState,
  type ToJudge,
} from "../../../shared/editor/judgePanel.ts";
import { UserError, messageOf } from "../../../shared/lib/errors.ts";
import { judgeDraw, judgeReport, runsShow, type DrawnRollout } from "../../../shared/protocol/protocol.ts";
import { appendLabel, labelsFileOf, readLabels, type LabelValue } from "../../../shared/rollouts/labels.ts";
import { dress, load, webviewOptions } from "../../vscode/webviewPanel.ts";
import { execute, register, show } from "../../vscode/commands.ts";
import type { DaemonSession } from "../connection/session.ts";
import type { Stores } from "../connection/stores.ts";
import { pythonPath } from "../language/python.ts";
import { edited } from "../rescore/documents.ts";
import { pickJudge } from "./pick.ts";

/** Labels of one sitting. */
const sitting = 20;

export class JudgePanels implements Disposable {
  readonly #open = new Map<string, JudgeHost>();
  readonly #disposables: readonly Disposable[];

  /** @param column in which runs open */
  constructor(
    private readonly home: Uri,
    private readonly stores: Stores,
    private readonly column: () => ViewColumn,
  ) {
    this.#disposables = [
      register("judgeLabel", (word, term) => this.#label(word, term)),
      window.registerWebviewPanelSerializer(panels.judge, {
        deserializeWebviewPanel: (panel, left: unknown) => {
          const state = readJudgeState(left);
          if (state === null) panel.dispose();
          else this.#host(panel, state);
          return Promise.resolve();
        },
      }),
    ];
  }

  dispose(): void {
    for (const disposable of this.#disposables) disposable.dispose();
    for (const host of [...this.#open.values()]) host.panel.dispose();
  }

  async #label(word: unknown, term: unknown): Promise<void> {
    const state = await pickJudge(this.stores, word, term);
    if (state === undefined) return;
    const existing = this.#open.get(keyOf(state));
    if (existing !== undefined) return existing.panel.reveal();
    const options = webviewOptions(this.home);
    const title = `Label: ${state.term}`;
    this.#host(window.createWebviewPanel(panels.judge, title, this.column(), options), state);
  }

  #host(panel: WebviewPanel, state: JudgeState): void {
    const key = keyOf(state);
    this.#open.get(key)?.panel.dispose();
    const host = new JudgeHost(panel, this.home, this.stores, state);
    this.#open.set(key, host);
    panel.onDidDispose(() => {
      if (this.#open.get(key) === host) this.#open.delete(key);
    });
  }
}

const keyOf = ({ run, term, step }: JudgeState): string => JSON.stringify([run, term, step]);

class JudgeHost {
  #drawn: readonly DrawnRollout[] = [];
  #config = "";
  #wanted = sitting;

  constructor(
    readonly panel: WebviewPanel,
    home: Uri,
    private readonly stores: Stores,
    private readonly state: JudgeState,
  ) {
    dress(panel, home);
    panel.webview.onDidReceiveMessage(
      (message: FromJudge) =>
        void this.#receive(message).catch((error: unknown) => show(error, `judge: ${message.type}`)),
    );
    load(panel, home, panel.title, "judgePanel");
  }

  get #file(): string {
    return labelsFileOf(this.#config);
  }

  #send(message: DistributiveOmit<ToJudge, "version">): void {
    void this.panel.webview.postMessage({ version: judgeVersion, ...message });
  }

  #session(): Promise<DaemonSession> {
    return this.stores.connected(this.stores.ofRun(this.state.run) ?? this.stores.all[0]);
  }

  async #receive(message: FromJudge): Promise<void> {
    if (message.version !== judgeVersion) return;
    switch (message.type) {
      case "ready":
        return this.#try(() => this.#draw());
      case "more":
        this.#wanted += sitting;
        return this.#try(() => this.#draw());
      case "label":
        return this.#keep(message.at, message.value);
      case "report":
        return this.#try(() => this.#report(message.ask, message.threshold));
      case "openLabels":
        return void (await window.showTextDocument(Uri.file(this.#file)));
      case "openRollout": {
        const { run, step, group, index } = message;
        return void (await execute("rolloutOpen", { run, step, group, index }));
      }
    }
  }

  async #try(act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      const action = error instanceof UserError ? (error.detail.action ?? "") : "";
      this.#send({ type: "failed", message: `${messageOf(error)} ${action}`.trim() });
    }
  }

  async #draw(): Promise<void> {
    const { run, term, step } = this.state;
    const session = await this.#session();
    const { file, name } = await session.ask(runsShow, { run });
    this.#config = file;
    const known = readLabels(this.#file).flatMap(({ row, label }) =>
      label.term === term && row.run === run && (step === null || row.step === step) ? [row] : [],
    );
    // Of an earlier day: it goes on, or is complete and gives the report.
    this.#wanted = Math.max(this.#wanted, Math.ceil(known.length / sitting) * sitting);
    const { drawn } = await session.ask(judgeDraw, {
      run,
      term,
      count: this.#wanted,
      ...(step !== null && { step }),
      known: known.map((row) => ({ step: row.step, group: String(row.group), index: row.index })),
    });
    this.#drawn = drawn;
    this.#send({
      type: "rollouts",
      state: this.state,
      name,
      file: basename(this.#file),
      before: known.length,
      rollouts: drawn.map(({ row: { prompt = "", response = "", finish = "stop" } }) => ({
        prompt,
        response,
        finish,
      })),
    });
  }

  /** A line of the file at once: what a person has said does not depend on the daemon, nor on this panel. */
  async #keep(at: number, value: LabelValue): Promise<void> {
    const drawn = this.#drawn[at];
    if (drawn === undefined) return;
    const { row, score, weight } = drawn;
    const { run, term } = this.state;
    try {
      appendLabel(this.#file, {
        row: { ...row, run },
        label: { term, value, score, weight, time: new Date().toISOString() },
      });
      this.#send({ type: "kept", at, failure: null });
    } catch (error) {
      this.#send({ type: "kept", at, failure: `The label could not be written: ${messageOf(error)}` });
    }
  }

  async #document(): Promise<TextDocument> {
    try {
      return await workspace.openTextDocument(this.#config);
    } catch (error) {
      throw new UserError("The judge cannot be asked: the run's config cannot be opened.", {
        cause: error,
        action: `Put it back at ${this.#config}; a run that was imported without one has only recorded scores.`,
      });
    }
  }

  async #report(ask: boolean, threshold: number | null): Promise<void> {
    const { term } = this.state;
    if (ask) this.#send({ type: "asking" });
    const session = await this.#session();
    const python = pythonPath();
    const config = ask ? edited(await this.#document()) : { uri: Uri.file(this.#config).toString() };
    const { report } = await session.ask(judgeReport, {
      ...config,
      term,
      ask,
      ...(threshold !== null && { threshold }),
      ...(python !== undefined && { python }),
    });
    this.#send({ type: "report", report });
  }
}

type DistributiveOmit<Union, Key extends PropertyKey> = Union extends unknown ? Omit<Union, Key> : never;
