/** The stores of the open folders, each with its connection, its runs and its feed; and language features without any. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { Uri, window, workspace, type Disposable, type WorkspaceFolder } from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import { language, storePattern } from "../../../shared/editor/contributions.ts";
import { ask } from "../../../shared/daemon/request.ts";
import { findStore } from "../../../shared/daemon/findStore.ts";
import { UserError, messageOf } from "../../../shared/lib/errors.ts";
import { daemonShutdown, type RunSummary } from "../../../shared/protocol/protocol.ts";
import { localFolders } from "../../vscode/folders.ts";
import { output } from "../../vscode/output.ts";
import { setting } from "../../vscode/settings.ts";
import { RunFeed } from "../runs/feed.ts";
import { RunsModel } from "../runs/model.ts";
import type { Asker } from "./asker.ts";
import { Emitter } from "./emitter.ts";
import {
  asNode,
  findNode,
  languageNode,
  nativeRoot,
  requireNode,
  type FoundNode,
  type Places,
} from "./node.ts";
import { openSession, stdioClient, type DaemonSession, type Launch } from "./session.ts";
import { ConnectionMachine, type ConnectionState, type Remedy } from "./state.ts";

export interface Store {
  readonly path: string;
  readonly folders: readonly WorkspaceFolder[];
  readonly machine: ConnectionMachine<DaemonSession>;
  readonly runs: RunsModel;
  readonly feed: RunFeed;
}
/** Milliseconds in which the views of a run take one step further, all of them together. */
export const runsBeat = 2_000;

export type DaemonState = ConnectionState<DaemonSession>;

export class Stores implements Disposable {
  /** A connection, the list of stores or a run has changed. */
  readonly changed = new Emitter<Store | undefined>();
  /** Somebody answers who did not before: a daemon, or the language server alone. */
  readonly answering = new Emitter<void>();
  readonly ended = new Emitter<RunSummary>();
  /** Something is wrong with a run that is live; once an alarm. */
  readonly alarmed = new Emitter<RunSummary>();
  #stores: readonly Store[] = [];
  /** Not connected: their folders have no store on disk and no config, and nothing requested one. */
  #resting: ReadonlySet<Store> = new Set();
  #language: LanguageClient | undefined;
  readonly #disposables: Disposable[] = [];

  /** @param configs finds those of the workspace */
  constructor(
    private readonly places: Places,
    private readonly configs: () => Promise<readonly Uri[]>,
  ) {}

  get all(): readonly Store[] {
    return this.#stores;
  }
  get runs(): readonly RunSummary[] {
    return this.#stores.flatMap((store) => store.runs.all);
  }
  get live(): readonly RunSummary[] {
    return this.#stores.flatMap((store) => store.runs.live);
  }
  get trusted(): boolean {
    return workspace.isTrusted;
  }

  /** The state that matters most to the person, of all connections. */
  get state(): DaemonState["state"] | "none" {
    const states = this.#stores
      .filter((store) => !this.#resting.has(store))
      .map((store) => store.machine.state.state);
    const order = ["failed", "reconnecting", "starting", "handshaking", "disconnected", "ready"] as const;
    return order.find((state) => states.includes(state)) ?? "none";
  }

  /** What helps against the failures there are. */
  get remedies(): readonly Remedy[] {
    return this.#stores.flatMap(({ machine: { state } }) => (state.state === "failed" ? state.remedies : []));
  }

  /** Runs that are on disk and not known yet: before the daemon has answered by their folders, then by what it says. */
  get reading(): { readonly left: number; readonly all: number } {
    const each = this.#stores.map(({ path, runs, machine: { state } }) => {
      const begins = !runs.loaded && (state.state === "starting" || state.state === "handshaking");
      const stored = begins ? storedRuns(path) : 0;
      return begins ? { left: stored, all: stored } : runs.reading;
    });
    const sum = (key: "left" | "all"): number => each.reduce((total, one) => total + one[key], 0);
    return { left: sum("left"), all: sum("all") };
  }

  start(): void {
    // A command line may make a store: `gradus runs import` next to a window that has nothing of ours yet.
    const made = workspace.createFileSystemWatcher(storePattern, false, true, true);
    this.#disposables.push(
      made,
      made.onDidCreate(() => {
        if ([...this.#resting].some(({ path }) => existsSync(path))) void this.wake();
      }),
      workspace.onDidChangeWorkspaceFolders(() => void this.#rebuild()),
      workspace.onDidGrantWorkspaceTrust(() => void this.#rebuild()),
      workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration("gradus.nodePath")) void this.#rebuild();
      }),
      workspace.onDidOpenTextDocument(({ languageId }) => {
        if (languageId === language.id) void this.wake();
      }),
    );
    void this.#rebuild();
  }

  dispose(): void {
    for (const disposable of this.#disposables) disposable.dispose();
    for (const store of this.#stores) store.machine.stop();
    void this.#stopLanguage();
  }

  /** The store whose folder holds a file; the first one for a file outside of all. */
  ofFile(uri: Uri): Store | undefined {
    const folder = workspace.getWorkspaceFolder(uri);
    return this.#stores.find((store) => store.folders.some((one) => one === folder)) ?? this.#stores[0];
  }
  ofRun(run: string): Store | undefined {
    return this.#stores.find((store) => store.runs.find(run) !== undefined);
  }

  /** Who answers what needs no store, without starting anybody: a folder's daemon, or the language server alone. */
  askerOf(uri: Uri): Asker | undefined {
    const client = this.#language;
    const alone: Asker | undefined = client && { ask: (...asked) => ask(client, ...asked) };
    return this.ofFile(uri)?.machine.session ?? alone;
  }

  /** A connection to ask through, made if need be. Throws with what to do where there can be none. */
  async session(store: Store | undefined): Promise<DaemonSession> {
    if (!this.trusted)
      throw new UserError("Runs and the daemon need a trusted workspace.", {
        code: "untrusted",
        action: "Trust this workspace first.",
      });
    if (store === undefined)
      throw new UserError("No folder is open, so there is nowhere to keep runs.", {
        code: "no-folder",
        action: "Open a folder.",
      });
    await store.machine.start();
    return store.machine.session ?? settled(store.machine);
  }

  /** The connection as it is, or is about to be: what is merely shown must not start a daemon that was stopped. */
  async connected(store: Store | undefined): Promise<DaemonSession> {
    if (store === undefined) return this.session(store);
    return store.machine.session ?? settled(store.machine);
  }

  /** The connection to ask about a run through: its store's, or, while that lists no such run, the first. */
  connectedFor(run: string): Promise<DaemonSession> {
    return this.connected(this.ofRun(run) ?? this.#stores[0]);
  }
  /** A run as its config calls it; its id where no store lists it yet. */
  nameOf(run: string): string {
    return this.ofRun(run)?.runs.find(run)?.name ?? run;
  }

  async restart(store: Store): Promise<void> {
    store.machine.stop();
    await store.machine.start();
  }

  /** Daemons with nothing to lose make room for ones that use what set-up has built. */
  async renew(): Promise<void> {
    for (const store of this.#stores.filter((one) => !this.#resting.has(one))) {
      try {
        await store.machine.session?.ask(daemonShutdown, { force: false });
        await this.restart(store);
      } catch (error) {
        output().warn(`${store.path}: ${messageOf(error)}`);
      }
    }
  }

  /** @param found undefined: whatever the daemon runs under */
  #launch(folders: readonly WorkspaceFolder[], found?: FoundNode): Launch {
    const node = found ?? requireNode(findNode(this.places, setting("nodePath", "")));
    return {
      node,
      cli: Uri.joinPath(Uri.file(this.places.home), "dist", "cli.mjs").fsPath,
      version: this.places.version,
      environment: {
        ...asNode(node),
        GRADUS_NATIVE_ROOT: nativeRoot(this.places),
        GRADUS_IDLE_MS:
          this.places.environment["GRADUS_IDLE_MS"] ?? String(setting("daemonIdleMinutes", 30) * 60_000),
      },
      folders,
    };
  }

  /** A config came into being, or was opened: from now on every store is connected. */
  async wake(): Promise<void> {
    await Promise.all([...this.#resting].map((store) => store.machine.start()));
  }

  async #rebuild(): Promise<void> {
    const folders = localFolders();
    const paths = new Map<string, WorkspaceFolder[]>();
    if (this.trusted)
      for (const folder of folders) {
        const path = findStore(folder.uri.fsPath, folder.uri.fsPath);
        paths.set(path, [...(paths.get(path) ?? []), folder]);
      }
    for (const store of this.#stores) store.machine.stop();
    const stores = [...paths].map(([path, own]) => this.#make(path, own));
    this.#stores = stores;
    this.#resting = new Set(stores.filter(({ path }) => !existsSync(path)));
    this.changed.fire(undefined);
    if (stores.length === 0) return this.#startLanguage();
    await Promise.all([
      ...stores.filter((store) => !this.#resting.has(store)).map((store) => store.machine.start()),
      this.#startNeeded(stores),
    ]);
  }

  /**
   * Where no store is on disk and there is no config, no folder is made and no daemon started. All or none: a window has one
   * language server for all of its folders, or each daemon's for its own.
   */
  async #startNeeded(stores: readonly Store[]): Promise<void> {
    const open = workspace.textDocuments.some(({ languageId }) => languageId === language.id);
    const needed = open || this.#resting.size < stores.length || (await this.configs()).length > 0;
    if (stores !== this.#stores) return;
    if (needed) return this.wake();
    await this.#stopLanguage(); // one of other folders, or another Node
    if (stores === this.#stores && this.#resting.size > 0) await this.#startLanguage();
  }

  #make(path: string, folders: readonly WorkspaceFolder[]): Store {
    const runs = new RunsModel({ milliseconds: runsBeat });
    const feed = new RunFeed(runs);
    const machine = new ConnectionMachine<DaemonSession>({
      open: async (shaking) => {
        // Before set-up, too: only a run needs the engine, and the package carries a SQLite.
        requireNode(findNode(this.places, setting("nodePath", "")));
        const session = await openSession(path, this.#launch(folders), shaking);
        await feed.follow(session);
        return session;
      },
    });
    const store: Store = { path, folders, machine, runs, feed };
    machine.changed.on((state) => void this.#connectionChanged(store, state));
    runs.changed.on(() => this.changed.fire(store));
    runs.ended.on((run) => this.ended.fire(run));
    runs.alarmed.on((run) => this.alarmed.fire(run));
    return store;
  }

  async #connectionChanged(store: Store, state: DaemonState): Promise<void> {
    output().info(
      `${store.path}: ${state.state}${state.state === "failed" || state.state === "reconnecting" ? `: ${state.reason}` : ""}`,
    );
    if (state.state !== "disconnected" && this.#resting.has(store)) {
      const others = [...this.#resting].filter((one) => one !== store);
      this.#resting = new Set();
      for (const other of others) void other.machine.start();
    }
    this.changed.fire(store);
    if (state.state === "ready") {
      this.answering.fire();
      await this.#stopLanguage();
    } else if (state.state === "failed") await this.#startLanguage();
  }

  /** Editing needs no daemon: without one, the language server runs as a child of this window. */
  async #startLanguage(): Promise<void> {
    const node = languageNode(this.places, setting("nodePath", ""));
    if (this.#language !== undefined) return;
    const client = stdioClient(this.#launch(workspace.workspaceFolders ?? [], node));
    this.#language = client;
    try {
      await client.start();
      this.answering.fire();
    } catch (error) {
      output().warn(`language server: ${messageOf(error)}`);
      this.#language = undefined;
    }
  }

  async #stopLanguage(): Promise<void> {
    const client = this.#language;
    this.#language = undefined;
    try {
      await client?.dispose();
    } catch (error) {
      output().debug(`language server: ${messageOf(error)}`);
    }
  }
}

/** Folders of runs in a store, without opening any. */
function storedRuns(store: string): number {
  const folder = join(store, "runs");
  if (!existsSync(folder)) return 0;
  return readdirSync(folder, { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && !entry.name.startsWith("."),
  ).length;
}

/** Waits while a connection is being made. */
async function settled(machine: ConnectionMachine<DaemonSession>): Promise<DaemonSession> {
  return new Promise((resolve, reject) => {
    const look = (state: DaemonState): boolean => {
      if (state.state === "ready") resolve(state.session);
      else if (state.state === "failed")
        reject(new UserError(state.reason, { code: codeOf(state.remedies) }));
      else if (state.state === "disconnected")
        reject(new UserError("The daemon was stopped.", { action: "Start it again." }));
      else return false;
      return true;
    };
    if (look(machine.state)) return;
    const stop = machine.changed.on((state) => {
      if (look(state)) stop();
    });
  });
}

const codeOf = (remedies: readonly Remedy[]): string =>
  remedies.includes("nodePath") ? "node-path" : remedies.includes("setUp") ? "set-up" : "daemon";

/** Runs `act` with a bar in the runs view. */
export const withBar = <T>(view: string, act: () => Promise<T>): Thenable<T> =>
  window.withProgress({ location: { viewId: view } }, act);
