/** The side in the editor of the page that compares runs: one panel a set of runs, restored after a reload. */
import { randomBytes } from "node:crypto";
import {
  EventEmitter,
  Uri,
  ViewColumn,
  commands as editor,
  window,
  workspace,
  type Disposable,
  type TextDocumentContentProvider,
  type WebviewPanel,
} from "vscode";
import { panels, schemes } from "../../../shared/editor/contributions.ts";
import {
  compareVersion,
  readCompareState,
  type FromCompare,
  type TaskPair,
  type ToCompare,
} from "../../../shared/editor/comparePanel.ts";
import { UserError, messageOf } from "../../../shared/lib/errors.ts";
import { runsCompare, runsShow, type RunSummary } from "../../../shared/protocol/protocol.ts";
import { mostCompared, type Comparison } from "../../../shared/run/comparison.ts";
import { codeFiles, readSources } from "../../../shared/run/sources.ts";
import { coalesce } from "../../vscode/coalesce.ts";
import { dress, load, webviewOptions } from "../../vscode/webviewPanel.ts";
import { Nothing, execute, register, show } from "../../vscode/commands.ts";
import type { DaemonSession } from "../connection/session.ts";
import type { Stores } from "../connection/stores.ts";
import { pickRuns } from "../runs/pick.ts";
import { configUri, resolvedUri, sourceUri } from "../runs/runFiles.ts";
import { readBoundary } from "./boundary.ts";
import { answerText, answersOf, taskPairs } from "./tasks.ts";

/** Milliseconds between two comparisons of runs that are live. */
const again = 5_000;
/** Points of a line at most: means of some steps each, or every step of most runs. */
const buckets = { smooth: 48, every: 1_000 } as const;

export class ComparePanels implements Disposable, TextDocumentContentProvider {
  readonly #open = new Set<CompareHost>();
  readonly #disposables: readonly Disposable[];
  readonly #changed = new EventEmitter<Uri>();
  readonly onDidChange = this.#changed.event;

  /** @param selected rows of the runs view */
  constructor(
    private readonly home: Uri,
    private readonly stores: Stores,
    selected: () => readonly unknown[],
  ) {
    this.#disposables = [
      register("runCompare", (word, more) => this.#compare(word, more ?? selected())),
      workspace.registerTextDocumentContentProvider(schemes.answers, this),
      window.registerWebviewPanelSerializer(panels.compare, {
        deserializeWebviewPanel: (panel, left: unknown) => {
          const state = readCompareState(left);
          if (state === null) panel.dispose();
          else this.#host(panel, state.runs);
          return Promise.resolve();
        },
      }),
    ];
  }

  dispose(): void {
    for (const disposable of this.#disposables) disposable.dispose();
    for (const host of this.#open) host.panel.dispose();
  }

  /** An answer, as the page that it is opened from has it. */
  provideTextDocumentContent(uri: Uri): string {
    for (const host of this.#open) {
      const text = host.answer(uri);
      if (text !== undefined) return text;
    }
    return "";
  }

  async #compare(word: unknown, more: unknown): Promise<void> {
    const runs = await this.#several(await pickRuns(this.stores, word, more, "Compare Runs"));
    if (runs === undefined) return;
    if (runs.length < 2) throw new Nothing("There is only one run to compare.", "Start another one first.");
    if (runs.length > mostCompared)
      throw new UserError(`${runs.length} runs are too many to compare: ${mostCompared} at most.`, {
        action: "Filter the runs view first.",
      });
    const stores = new Set(runs.map(({ id }) => this.stores.ofRun(id)));
    if (stores.size > 1)
      throw new UserError("Runs of two stores cannot be compared.", { action: "Choose runs of one folder." });
    // The oldest first: what came later is compared with it.
    const ids = [...runs]
      .sort((one, other) => one.startedAt.localeCompare(other.startedAt))
      .map(({ id }) => id);
    const options = webviewOptions(this.home);
    const panel = window.createWebviewPanel(panels.compare, "Compare Runs", ViewColumn.Active, options);
    this.#host(panel, ids);
  }

  /** Of one run that is chosen: with which others. */
  async #several(runs: readonly RunSummary[]): Promise<readonly RunSummary[] | undefined> {
    const [first] = runs;
    if (first === undefined || runs.length > 1) return first === undefined ? undefined : runs;
    const items = this.stores.runs
      .filter(({ id }) => id !== first.id)
      .map((run) => ({ label: run.name, description: run.label ?? "", detail: run.id, run }));
    const chosen = await window.showQuickPick(items, {
      title: `Compare ${first.name} with`,
      canPickMany: true,
      matchOnDescription: true,
      matchOnDetail: true,
    });
    return chosen === undefined || chosen.length === 0 ? undefined : [first, ...chosen.map(({ run }) => run)];
  }

  #host(panel: WebviewPanel, runs: readonly string[]): void {
    const host = new CompareHost(panel, this.home, this.stores, runs);
    this.#open.add(host);
    panel.onDidDispose(() => this.#open.delete(host));
  }
}

class CompareHost {
  #comparison: Comparison | undefined;
  #smooth = true;
  /** By the place of the other group. */
  readonly #pairs = new Map<number, readonly TaskPair[]>();
  readonly #stop: readonly (() => void)[];

  constructor(
    readonly panel: WebviewPanel,
    home: Uri,
    private readonly stores: Stores,
    private runs: readonly string[],
  ) {
    dress(panel, home);
    panel.webview.onDidReceiveMessage(
      (message: FromCompare) =>
        void this.#receive(message).catch((error: unknown) => show(error, `compare: ${message.type}`)),
    );
    const refresh = coalesce<null>(again, () => {
      if (panel.visible) void this.#refresh();
    });
    const store = this.#store();
    this.#stop =
      store === undefined
        ? []
        : [
            store.runs.changed.on(({ runs: changed }) => {
              if (this.runs.some((run) => changed?.has(run) === true)) refresh(null);
            }),
          ];
    panel.onDidDispose(() => this.#stop.forEach((stop) => stop()));
    load(panel, home, "Compare Runs", "comparePanel");
  }

  answer({ path }: Uri): string | undefined {
    const [, panel = "", side, other, key = ""] = path.split("/").map(decodeURIComponent);
    if (panel !== this.#id) return undefined;
    const pair = this.#pairs.get(Number(other))?.find((one) => one.key === key);
    return pair === undefined ? undefined : answerText(pair, side === "0" ? 0 : 1);
  }

  readonly #id = randomBytes(4).toString("hex");

  #store(): ReturnType<Stores["ofRun"]> {
    return (
      this.runs.map((run) => this.stores.ofRun(run)).find((store) => store !== undefined) ??
      this.stores.all[0]
    );
  }
  #session(): Promise<DaemonSession> {
    return this.stores.connected(this.#store());
  }

  #send(message: DistributiveOmit<ToCompare, "version">): void {
    void this.panel.webview.postMessage({ version: compareVersion, ...message });
  }

  async #refresh(): Promise<void> {
    try {
      const comparison = await (
        await this.#session()
      ).ask(runsCompare, {
        runs: [...this.runs],
        buckets: this.#smooth ? buckets.smooth : buckets.every,
      });
      this.#comparison = comparison;
      this.panel.title = `Compare ${[...new Set(comparison.runs.map(({ name }) => name))].join(", ")}`;
      this.#send({ type: "comparison", comparison });
    } catch (error) {
      this.#send({ type: "failed", message: messageOf(error) });
    }
  }

  async #receive(message: FromCompare): Promise<void> {
    if (message.version !== compareVersion) return;
    switch (message.type) {
      case "ready":
        return this.#refresh();
      case "order":
        this.runs = message.runs;
        this.#pairs.clear();
        return this.#refresh();
      case "smooth":
        this.#smooth = message.smooth;
        return this.#refresh();
      case "openRun":
        return void (await execute("runOpen", message.run));
      case "diffConfigs":
        return this.#diffConfigs(message.runs, message.resolved);
      case "diffSource":
        return this.#diffSource(message.runs, message.path);
      case "tasks":
        return this.#tasks(message.other);
      case "boundary":
        return this.#boundary(message);
      case "diffTask":
        return this.#diffTask(message.other, message.key);
    }
  }

  async #diffConfigs([one, other]: readonly [string, string], resolved: boolean): Promise<void> {
    const uri = resolved ? resolvedUri : configUri;
    await editor.executeCommand(
      "vscode.diff",
      uri(one, this.#nameOf(one)),
      uri(other, this.#nameOf(other)),
      `${resolved ? "Resolved config" : "Config"}: ${one} ↔ ${other}`,
    );
  }

  async #diffSource([one, other]: readonly [string, string], path: string): Promise<void> {
    const session = await this.#session();
    const kept = await Promise.all(
      [one, other].map(async (run) => {
        const { folder } = await session.ask(runsShow, { run });
        const sources = readSources(folder);
        const found = sources && codeFiles(sources).find((file) => file.path === path)?.kept;
        if (found === undefined || found === null)
          throw new UserError(`${run} kept no copy of ${path}.`, {
            action: "Runs of earlier versions kept none, and packages that are installed are not copied.",
          });
        return sourceUri(run, found, path);
      }),
    );
    await editor.executeCommand("vscode.diff", kept[0], kept[1], `${path}: ${one} ↔ ${other}`);
  }

  async #tasks(other: number): Promise<void> {
    const comparison = this.#comparison;
    const ids = [0, other].map((group) => comparison?.runs[comparison.groups[group]?.runs[0] ?? -1]?.id);
    const [base, second] = ids;
    if (base === undefined || second === undefined) return;
    const session = await this.#session();
    const pairs = taskPairs(await answersOf(session, base), await answersOf(session, second));
    this.#pairs.set(other, pairs);
    this.#send({ type: "tasks", other, pairs });
  }

  async #boundary({ own, other }: Extract<FromCompare, { type: "boundary" }>): Promise<void> {
    const known = new Set(this.#comparison?.runs.map(({ id }) => id));
    if (!known.has(own.run) || !known.has(other.run)) return;
    this.#send(await readBoundary(await this.#session(), own, other));
  }

  async #diffTask(other: number, key: string): Promise<void> {
    const side = (which: number): Uri =>
      Uri.from({
        scheme: schemes.answers,
        path: `/${[this.#id, which, other, key].map((part) => encodeURIComponent(part)).join("/")}`,
      });
    await editor.executeCommand("vscode.diff", side(0), side(1), "Answers to the same task");
  }

  #nameOf(run: string): string {
    return this.#comparison?.runs.find(({ id }) => id === run)?.name ?? run;
  }
}

type DistributiveOmit<Union, Key extends PropertyKey> = Union extends unknown ? Omit<Union, Key> : never;
