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
  type TreeDataProvider,
} from "vscode";
import { commands } from "../../../shared/editor/contributions.ts";
import { evaluationsQuery, runsShow } from "../../../shared/protocol/protocol.ts";
import type { Store, Stores } from "../connection/stores.ts";
import { childrenOf, childrenOfRun, rowOf, runTooltip, type RunNode } from "./treeModel.ts";

type TreeNode = RunNode | { readonly kind: "store"; readonly store: Store };

export class RunsTree implements TreeDataProvider<TreeNode> {
  readonly #changed = new EventEmitter<TreeNode | undefined>();
  readonly onDidChangeTreeData = this.#changed.event;
  /** The node of each run as last shown: refreshing one row needs the same object. */
  readonly #nodes = new Map<string, RunNode & { kind: "run" }>();

  constructor(private readonly stores: Stores) {}

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
    return summary === undefined || summary.status !== node.run.status;
  }

  getTreeItem(node: TreeNode): TreeItem {
    if (node.kind === "store") return storeItem(node.store);
    const row = rowOf(node, Date.now());
    const item = new TreeItem(
      row.label,
      row.expands ? TreeItemCollapsibleState.Collapsed : TreeItemCollapsibleState.None,
    );
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
      return stores.length > 1 ? stores.map((store) => ({ kind: "store", store })) : this.#runsOf(stores[0]);
    }
    if (node.kind === "store") return this.#runsOf(node.store);
    return node.kind === "run" ? this.#partsOf(node.run.id) : [...childrenOf(node)];
  }

  #runsOf(store: Store | undefined): TreeNode[] {
    return (store?.runs.all ?? []).map((run) => {
      const node: RunNode & { kind: "run" } = { kind: "run", run };
      this.#nodes.set(run.id, node);
      return node;
    });
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

function commandOf(node: RunNode): TreeItem["command"] {
  switch (node.kind) {
    case "run":
      return { command: commands.runOpen, title: "Open Run", arguments: [node] };
    case "step":
      return { command: commands.rolloutsOpen, title: "Open Rollouts", arguments: [node.run, node.step] };
    case "checkpoint":
      return { command: "revealFileInOS", title: "Reveal Checkpoint", arguments: [Uri.file(node.path)] };
    default:
      return undefined;
  }
}
