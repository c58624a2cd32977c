/** The runs view. */
import { existsSync } from "node:fs";
import {
  EventEmitter,
  MarkdownString,
  ThemeColor,
  ThemeIcon,
  TreeItem,
  TreeItemCollapsibleState,
  Uri,
  workspace,
  type TreeDataProvider,
} from "vscode";
import { commands } from "../../../shared/editor/contributions.ts";
import { messageOf } from "../../../shared/lib/errors.ts";
import { formatCount } from "../../../shared/lib/format.ts";
import { evaluationsQuery, runsShow, type RunSummary } from "../../../shared/protocol/protocol.ts";
import { isLive } from "../../../shared/protocol/runStatus.ts";
import { output } from "../../vscode/output.ts";
import { Emitter } from "../connection/emitter.ts";
import type { Store, Stores } from "../connection/stores.ts";
import { families, forksOf, shownRuns, type Listing } from "./families.ts";
import { partsOf, type CardNode } from "../trainers/card.ts";
import { cardItem, isCardNode } from "../trainers/cardItems.ts";
import type { Cards } from "../trainers/cards.ts";
import type { RunFilter } from "./filter.ts";
import { childrenOf, childrenOfRun, rowOf, runTooltip, type RunNode } from "./treeModel.ts";

/** Families that are open at first. */
const openFamilies = 3;
const everything: Listing = { ids: undefined, sparks: new Map(), archived: false };

type TreeNode =
  | RunNode
  | CardNode
  | { readonly kind: "store"; readonly store: Store }
  /** There are older runs. */
  | { readonly kind: "more"; readonly store: Store };

export class RunsTree implements TreeDataProvider<TreeNode> {
  readonly #changed = new EventEmitter<TreeNode | undefined>();
  readonly onDidChangeTreeData = this.#changed.event;
  /** The node of each run as last shown: refreshing one row needs the same object. */
  readonly #nodes = new Map<string, RunNode & { kind: "run" }>();

  /** By store's path, as the daemon last said it. */
  readonly #listings = new Map<string, Listing>();
  /** Runs that are shown, and all; undefined: there are more than are known. */
  counts: { readonly shown: number; readonly all: number | undefined } = { shown: 0, all: 0 };
  /** The counts are others. */
  readonly listed = new Emitter<void>();

  constructor(
    private readonly stores: Stores,
    private readonly filter: RunFilter,
    private readonly cards: Cards,
  ) {}

  refresh(): void {
    this.#changed.fire(undefined);
  }

  /** Redraws the rows of these runs only; an expanded run asks for its children again. */
  refreshRuns(runs: ReadonlySet<string> | undefined): void {
    const nodes =
      runs === undefined ? undefined : [...runs].map((run) => ({ run, node: this.#nodes.get(run) }));
    if (nodes === undefined || nodes.some(({ run, node }) => node === undefined || this.#moved(run, node)))
      return this.refresh();
    for (const { run, node } of nodes) {
      const summary = this.stores.ofRun(run)?.runs.find(run);
      if (node === undefined || summary === undefined) continue;
      const fresh = Object.assign(node, { run: summary });
      this.#changed.fire(fresh);
    }
  }

  /** Deleted, or in another place of the order. */
  #moved(run: string, node: RunNode & { kind: "run" }): boolean {
    const summary = this.stores.ofRun(run)?.runs.find(run);
    if (summary === undefined || summary.status !== node.run.status) return true;
    // Marks, and a label that became known, change where a row belongs.
    const marks = ({ pinned, archived, label, tags }: RunSummary): string =>
      JSON.stringify([pinned, archived, label, tags]);
    return marks(summary) !== marks(node.run);
  }

  getTreeItem(node: TreeNode): TreeItem {
    if (node.kind === "store") return storeItem(node.store);
    if (node.kind === "more") return moreItem(node.store);
    if (isCardNode(node)) return cardItem(node, this.stores.trusted);
    const row = rowOf(node, Date.now());
    const open = node.kind === "family" ? node.open : node.kind === "run" && node.forks === true;
    const { Collapsed, Expanded, None } = TreeItemCollapsibleState;
    const item = new TreeItem(row.label, open ? Expanded : row.expands ? Collapsed : None);
    item.id = row.id;
    item.description = row.description;
    item.iconPath = new ThemeIcon(row.icon, row.color === null ? undefined : new ThemeColor(row.color));
    item.contextValue = row.context;
    item.accessibilityInformation = { label: row.spoken };
    if (node.kind === "run") item.tooltip = new MarkdownString(runTooltip(node.run, Date.now()), true);
    const command = commandOf(node);
    if (command !== undefined) item.command = command;
    return item;
  }

  async getChildren(node?: TreeNode): Promise<TreeNode[]> {
    if (node === undefined) {
      const stores = this.stores.all;
      this.counts = { shown: 0, all: 0 };
      const cards = this.cards.all.map((card): TreeNode => ({ kind: "card", card }));
      // Rows of folders without a run would be all that there is.
      if (cards.length > 0 && this.stores.runs.length === 0) return cards;
      return stores.length > 1 ? stores.map((store) => ({ kind: "store", store })) : this.#rootOf(stores[0]);
    }
    if (node.kind === "store") return this.#rootOf(node.store);
    if (isCardNode(node)) return node.kind === "card" ? [...partsOf(node.card, this.stores.trusted)] : [];
    if (node.kind === "family") return node.family.runs.map((run) => this.#nodeOf(run));
    if (node.kind === "more") return [];
    if (node.kind !== "run") return [...childrenOf(node)];
    const forks = forksOf(this.#shownOf(this.stores.ofRun(node.run.id)), node.run.id);
    return [...forks.map((run) => this.#nodeOf(run)), ...(await this.#partsOf(node.run.id))];
  }

  /** Families, or the runs of the only one. */
  async #rootOf(store: Store | undefined): Promise<TreeNode[]> {
    if (store === undefined) return [];
    try {
      this.#listings.set(store.path, await this.filter.listing(store));
    } catch (error) {
      output().warn(`listing runs: ${messageOf(error)}`);
    }
    const shown = this.#shownOf(store);
    const { shown: before, all } = this.counts;
    const known = store.feed.complete && all !== undefined ? all + store.runs.all.length : undefined;
    this.counts = { shown: before + shown.length, all: known };
    this.listed.fire();
    const found = families(shown);
    // A filter and a sort find all runs.
    const chosen = this.#listings.get(store.path)?.ids !== undefined;
    const more: TreeNode[] = store.feed.complete || chosen ? [] : [{ kind: "more", store }];
    if (found.length === 1) return [...found[0]!.runs.map((run) => this.#nodeOf(run)), ...more];
    return [
      ...found.map((family, at): TreeNode => ({
        kind: "family",
        run: family.key,
        family,
        open: at < openFamilies || family.runs.some(({ status }) => isLive(status)),
      })),
      ...more,
    ];
  }

  #shownOf(store: Store | undefined): readonly RunSummary[] {
    if (store === undefined) return [];
    return shownRuns(store.runs.all, this.#listings.get(store.path) ?? everything);
  }

  #nodeOf(run: RunSummary): RunNode & { kind: "run" } {
    const store = this.stores.ofRun(run.id);
    const spark = this.#listings.get(store?.path ?? "")?.sparks.get(run.id) ?? [];
    const forks = forksOf(this.#shownOf(store), run.id).length > 0;
    const node: RunNode & { kind: "run" } = { kind: "run", run, spark, forks };
    this.#nodes.set(run.id, node);
    return node;
  }

  async #partsOf(run: string): Promise<TreeNode[]> {
    const session = await this.stores.connected(this.stores.ofRun(run));
    const [detail, { evaluations }] = await Promise.all([
      session.ask(runsShow, { run }),
      session.ask(evaluationsQuery, { run }),
    ]);
    return [...childrenOfRun(detail, evaluations, existsSync)];
  }
}

function storeItem(store: Store): TreeItem {
  const item = new TreeItem(
    store.folders.map((folder) => folder.name).join(", "),
    TreeItemCollapsibleState.Expanded,
  );
  item.id = `store/${store.path}`;
  item.iconPath = ThemeIcon.Folder;
  item.contextValue = "store";
  item.description = store.machine.state.state === "ready" ? "" : store.machine.state.state;
  return item;
}

function moreItem({ path, feed }: Store): TreeItem {
  const item = new TreeItem("Show More…", TreeItemCollapsibleState.None);
  item.id = `more/${path}`;
  item.description = `the newest ${formatCount(feed.most)} are listed`;
  item.contextValue = "more";
  item.command = { command: commands.runMore, title: "Show More Runs", arguments: [path] };
  return item;
}

/** The system's own file manager is another machine's where the editor is remote or in a browser. */
const revealing = (uri: Uri): TreeItem["command"] =>
  workspace.getWorkspaceFolder(uri) === undefined
    ? undefined
    : { command: "revealInExplorer", title: "Reveal Checkpoint", arguments: [uri] };

function commandOf(node: RunNode): TreeItem["command"] {
  switch (node.kind) {
    case "run":
      return { command: commands.runOpen, title: "Open Run", arguments: [node] };
    case "step":
      return { command: commands.rolloutsOpen, title: "Open Rollouts", arguments: [node.run, node.step] };
    case "checkpoint":
      return revealing(Uri.file(node.path));
    default:
      return undefined;
  }
}
