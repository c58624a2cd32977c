/** The configs view: every config of the workspace and its last run. */
import { EventEmitter, ThemeIcon, TreeItem, workspace, type TreeDataProvider, type Uri } from "vscode";
import { dirname } from "node:path/posix";
import { setContext } from "../../vscode/context.ts";
import { output } from "../../vscode/output.ts";
import type { Stores } from "../connection/stores.ts";
import { findConfigs } from "./find.ts";
import { runDescription } from "../runs/treeModel.ts";

interface ConfigNode {
  readonly uri: Uri;
}

export class ConfigsTree implements TreeDataProvider<ConfigNode> {
  readonly #changed = new EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.#changed.event;

  /** Looked for again when a config comes or goes, not when a run takes a step. */
  #configs: Promise<Uri[]> | undefined;

  constructor(private readonly stores: Stores) {}

  search(): void {
    this.#configs = undefined;
    this.refresh();
  }
  refresh(): void {
    this.#changed.fire(undefined);
  }

  getTreeItem({ uri }: ConfigNode): TreeItem {
    const item = new TreeItem(uri);
    const last = this.stores.ofFile(uri)?.runs.lastOf(uri.fsPath);
    const folder = dirname(workspace.asRelativePath(uri));
    item.id = `config/${uri.toString()}`;
    item.description = last === undefined ? (folder === "." ? "" : folder) : runDescription(last, Date.now());
    item.tooltip = workspace.asRelativePath(uri);
    item.iconPath = new ThemeIcon("settings-gear");
    item.contextValue = "config";
    item.command = { command: "vscode.open", title: "Open Config", arguments: [uri] };
    return item;
  }

  async getChildren(node?: ConfigNode): Promise<ConfigNode[]> {
    if (node !== undefined) return [];
    const configs = await (this.#configs ??= findConfigs(undefined, (message) => output().debug(message)));
    await setContext("hasConfigs", configs.length > 0);
    return configs.map((uri) => ({ uri })).sort((a, b) => a.uri.path.localeCompare(b.uri.path));
  }
}
