/** The run panel's side in the editor: one webview panel a run, restored after a reload. */
import { Position, Range, Uri, ViewColumn, window, type Disposable, type WebviewPanel } from "vscode";
import { panels } from "../../../shared/editor/contributions.ts";
import { messageOf } from "../../../shared/lib/errors.ts";
import { runsDismiss, runsShow } from "../../../shared/protocol/protocol.ts";
import { readPanelState } from "../../../shared/editor/panelState.ts";
import {
  panelVersion,
  type ChartId,
  type FromPanel,
  type LinkState,
  type PanelAction,
  type ToPanel,
} from "../../../shared/editor/runPanel.ts";
import { dress, load, webviewOptions } from "../../vscode/webviewPanel.ts";
import { execute, show, type CommandName } from "../../vscode/commands.ts";
import { output } from "../../vscode/output.ts";
import { Emitter } from "../connection/emitter.ts";
import type { DaemonState, Store, Stores } from "../connection/stores.ts";
import { applyFix } from "./applyFix.ts";
import { columnOf } from "./column.ts";
import { PanelFeed } from "./feed.ts";
import { diffForgotten, reviewForgotten } from "./forgotten.ts";
import { moveStage, type StageMove } from "./moveStage.ts";
import { saveChart } from "./saveChart.ts";

const commandOf: Readonly<
  Record<
    Exclude<PanelAction, "openRollouts" | "compareBefore" | "fork" | "reconnect" | "showOutput">,
    CommandName
  >
> = {
  stop: "runStop",
  stopNow: "runStopNow",
  pause: "runPause",
  continue: "runResume",
  resume: "runResume",
  openConfig: "runOpenConfig",
  openLog: "runOpenLog",
};

export class RunPanels implements Disposable {
  readonly #open = new Map<string, RunPanelHost>();
  readonly #disposables: Disposable[] = [];

  constructor(
    private readonly home: Uri,
    private readonly stores: Stores,
  ) {
    this.#disposables.push(
      window.registerWebviewPanelSerializer(panels.run, {
        deserializeWebviewPanel: (panel, left: unknown) => {
          const state = readPanelState(left);
          if (state === null) panel.dispose();
          else this.#host(panel, state.run);
          return Promise.resolve();
        },
      }),
    );
  }

  /** A run's panel came into view. */
  readonly looked = new Emitter<string>();

  show(run: string, name: string, chart?: ChartId): void {
    const existing = this.#open.get(run);
    if (existing !== undefined) return existing.reveal(chart);
    const column = this.column();
    const options = webviewOptions(this.home);
    this.#host(window.createWebviewPanel(panels.run, name, column, options), run).reveal(chart);
  }

  /** Runs are tabs of one group: where another one is, else next to the text, but never in a third column. */
  column(): ViewColumn {
    const { all, activeTabGroup } = window.tabGroups;
    const others = all.filter((group) => group !== activeTabGroup).map(({ viewColumn }) => viewColumn);
    const runs = [...this.#open.values()].map(({ column }) => column);
    return columnOf({ runs, others, text: window.activeTextEditor !== undefined }, ViewColumn);
  }

  /** Whether a person has the run before their eyes. */
  sees(run: string): boolean {
    return this.#open.get(run)?.visible === true;
  }

  dispose(): void {
    for (const disposable of this.#disposables) disposable.dispose();
    for (const host of [...this.#open.values()]) host.dispose();
  }

  #host(panel: WebviewPanel, run: string): RunPanelHost {
    this.#open.get(run)?.dispose();
    const host = new RunPanelHost(panel, run, this.home, this.stores, () => this.#open.delete(run));
    this.#open.set(run, host);
    panel.onDidChangeViewState(() => {
      if (panel.visible) this.looked.fire(run);
    });
    this.looked.fire(run);
    return host;
  }
}

class RunPanelHost {
  readonly #feed: PanelFeed;
  readonly #unsubscribe: (() => void)[] = [];
  #store: Store | undefined;
  #chart: ChartId | undefined;
  #loaded = false;

  constructor(
    private readonly panel: WebviewPanel,
    private readonly run: string,
    home: Uri,
    private readonly stores: Stores,
    closed: () => void,
  ) {
    this.#feed = new PanelFeed({
      run,
      source: async () => this.stores.connected(this.#ownStore()),
      send: (message) => void panel.webview.postMessage(message),
      failed: (error) => this.#failed(error),
      shown: () => this.stores.ofRun(run)?.runs.find(run),
    });
    dress(panel, home);
    panel.webview.onDidReceiveMessage((message: FromPanel) => void this.#receive(message));
    panel.onDidChangeViewState(() => {
      if (panel.visible) return;
      this.#feed.hidden();
      this.#loaded = false;
    });
    panel.onDidDispose(() => {
      for (const stop of this.#unsubscribe) stop();
      this.#feed.hidden();
      closed();
    });
    this.#unsubscribe.push(stores.changed.on((store) => this.#storeChanged(store)));
    this.#attach();
    load(panel, home, panel.title, "runPanel");
  }

  get visible(): boolean {
    return this.panel.visible;
  }
  get column(): ViewColumn | undefined {
    return this.panel.viewColumn;
  }
  reveal(chart?: ChartId): void {
    this.panel.reveal();
    if (chart === undefined) return;
    this.#chart = chart;
    this.#point();
  }
  /** A webview that is not loaded yet hears of it once it is. */
  #point(): void {
    if (this.#chart === undefined || !this.#loaded) return;
    void this.panel.webview.postMessage({
      version: panelVersion,
      type: "focus",
      chart: this.#chart,
    } satisfies ToPanel);
    this.#chart = undefined;
  }
  dispose(): void {
    this.panel.dispose();
  }

  #ownStore(): Store | undefined {
    return this.stores.ofRun(this.run) ?? this.#store ?? this.stores.all[0];
  }

  /** Follows the feed of the run's store, which may only be known once the store has listed its runs. */
  #attach(): void {
    const store = this.#ownStore();
    if (store === undefined || store === this.#store) return;
    this.#store = store;
    this.#unsubscribe.push(
      store.feed.changes.on((changes) => this.#feed.take(changes)),
      store.feed.restarted.on(() => void this.#feed.restart()),
      store.runs.changed.on(({ runs }) => {
        if (runs?.has(this.run) === true) this.#feed.moved();
      }),
      store.machine.changed.on((state) => this.#feed.link(linkOf(state))),
    );
  }

  #storeChanged(store: Store | undefined): void {
    this.#attach();
    const summary = store?.runs.find(this.run);
    if (summary !== undefined && this.panel.title !== summary.name) this.panel.title = summary.name;
  }

  #failed(error: unknown): void {
    output().warn(`run panel ${this.run}: ${messageOf(error)}`);
    this.#feed.link({ state: "failed", message: messageOf(error) });
  }

  async #receive(message: FromPanel): Promise<void> {
    if (message.version !== panelVersion) return;
    switch (message.type) {
      case "ready":
        this.#attach();
        this.#loaded = true;
        this.#point();
        return this.#feed.ready();
      case "range":
        return this.#feed
          .range(message.id, message.metrics, message)
          .catch((error: unknown) => this.#failed(error));
      case "names":
        return this.#feed.metricNames().catch((error: unknown) => this.#failed(error));
      case "metrics":
        return this.#feed.metrics(message.metrics).catch((error: unknown) => this.#failed(error));
      case "save":
        return saveChart(message).catch((error: unknown) => show(error, "save the chart"));
      case "fix":
        return this.#fix(message.fix).catch((error: unknown) => show(error, "change the config"));
      case "forgotten":
        return this.#forgotten(message).catch((error: unknown) => show(error, "open a task"));
      case "review":
        return this.#review().catch((error: unknown) => show(error, "change the config"));
      case "dismiss":
        return this.#dismiss().catch((error: unknown) => show(error, "dismiss the verdict"));
      case "curriculum":
        return this.#feed.curriculum(message.id, message.view);
      case "rollouts":
        return this.#feed.rollouts(message.step);
      case "brush":
        return this.#feed.brush(message.id, message.brush);
      case "moveStage":
        return this.#moveStage(message).catch((error: unknown) => show(error, "move the end of a stage"));
      case "why":
        return this.#feed.why(message.place);
      case "openPlace":
        return this.#openPlace(message).catch((error: unknown) => show(error, "open the line that threw"));
      case "failed":
        return output().error(`run panel: ${message.message}`);
      case "act":
        return this.#act(message.action, message.step).catch((error: unknown) => show(error, message.action));
    }
  }

  async #moveStage({ stage, was, steps }: Omit<StageMove, "run" | "file">): Promise<void> {
    const source = await this.stores.connected(this.#ownStore());
    const { file } = await source.ask(runsShow, { run: this.run });
    await moveStage(source, { run: this.run, file, stage, was, steps });
  }

  async #fix(place: number): Promise<void> {
    const fix = this.#feed.verdict?.fixes[place];
    if (fix === undefined) return;
    const source = await this.stores.connected(this.#ownStore());
    const { file } = await source.ask(runsShow, { run: this.run });
    await applyFix(source, file, fix);
  }

  async #forgotten({ task, show: what }: Extract<FromPanel, { type: "forgotten" }>): Promise<void> {
    const found = this.#feed.forgotten(task);
    if (found === undefined) return;
    if (what === "history") return void (await execute("taskFollow", { run: this.run, task }));
    const source = await this.stores.connected(this.#ownStore());
    await diffForgotten(source, { run: this.run, name: this.stores.nameOf(this.run) }, found);
  }

  async #review(): Promise<void> {
    await reviewForgotten(await this.stores.connected(this.#ownStore()), this.run);
  }

  async #dismiss(): Promise<void> {
    const before = this.#feed.verdict?.dismissed?.reason ?? "";
    const reason = await window.showInputBox({
      title: "Dismiss the Verdict",
      prompt: "Why is it wrong? It stays in the run's folder; an empty reason takes a dismissal back.",
      value: before,
    });
    if (reason === undefined) return;
    const source = await this.stores.connected(this.#ownStore());
    await source.ask(runsDismiss, { run: this.run, reason });
    this.#feed.judgeAgain();
  }

  async #openPlace({ file, line, column }: Extract<FromPanel, { type: "openPlace" }>): Promise<void> {
    if (!this.#feed.names(file)) return;
    const at = new Position(Math.max(0, line - 1), Math.max(0, column - 1));
    await window.showTextDocument(Uri.file(file), {
      selection: new Range(at, at),
      viewColumn: ViewColumn.One,
    });
  }

  async #act(action: PanelAction, step: number | undefined): Promise<void> {
    if (action === "showOutput") return output().show();
    if (action === "openRollouts") return void (await execute("rolloutsOpen", this.run, step));
    if (action === "fork") return void (await execute("runFork", this.run, step));
    if (action === "compareBefore")
      return void (await execute("runCompare", this.run, [this.#feed.before, this.run]));
    if (action === "reconnect") {
      await this.stores.session(this.#ownStore());
      return this.#feed.restart();
    }
    await execute(commandOf[action], this.run);
  }
}

function linkOf(state: DaemonState): LinkState {
  switch (state.state) {
    case "ready":
      return { state: "live" };
    case "failed":
      return { state: "failed", message: state.reason };
    case "disconnected":
      return { state: "failed", message: "The daemon was stopped; the run itself continues." };
    case "reconnecting":
      return {
        state: "waiting",
        message: `The connection to the daemon was lost; reconnecting (${state.attempt}). The run itself continues.`,
      };
    case "starting":
    case "handshaking":
      return { state: "waiting", message: "Connecting to the daemon…" };
  }
}
