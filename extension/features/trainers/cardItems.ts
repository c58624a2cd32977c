/** Rows of a card in the runs view. */
import { basename, resolve } from "node:path";
import { Range, ThemeColor, ThemeIcon, TreeItem, TreeItemCollapsibleState, Uri } from "vscode";
import { commands } from "../../../shared/editor/contributions.ts";
import type { Card, CardNode, FileLine } from "./card.ts";

const { Collapsed, Expanded } = TreeItemCollapsibleState;
const colours = {
  error: "problemsErrorIcon.foreground",
  warning: "problemsWarningIcon.foreground",
} as const;

const uriOf = ({ folder }: Card, file: string): Uri => Uri.file(resolve(folder, file));

export const isCardNode = (node: { readonly kind: string }): node is CardNode =>
  ["card", "file", "output", "log", "reward"].includes(node.kind);

/** @param trusted whether a run may be opened */
export function cardItem(node: CardNode, trusted: boolean): TreeItem {
  const item = itemOf(node, trusted);
  item.id = `card/${node.card.folder}/${node.kind}/${"line" in node ? JSON.stringify(node.line) : "file" in node ? node.file : ""}`;
  item.contextValue = `trainer.${node.kind === "file" && node.line.starts ? "launch" : node.kind}`;
  item.accessibilityInformation = { label: `${String(item.label)}, ${String(item.description)}` };
  return item;
}

function itemOf(node: CardNode, trusted: boolean): TreeItem {
  const { card } = node;
  switch (node.kind) {
    case "card": {
      const item = rowOf(card.title, card.said, "rocket");
      item.collapsibleState = card.isCheckout ? Collapsed : Expanded;
      item.tooltip = card.tooltip;
      return item;
    }
    case "file": {
      const { line, cell, file } = node.line;
      const item = fileRow(node.line, "file-code");
      const at = line === undefined ? {} : { selection: new Range(line - 1, 0, line - 1, 0) };
      item.command =
        cell === undefined
          ? { command: "vscode.open", title: "Open File", arguments: [uriOf(card, file), at] }
          : { command: commands.trainerValidate, title: "Open Notebook", arguments: [node] };
      return item;
    }
    case "output": {
      const { folder, said, config } = node.line;
      const item = rowOf(folder === "." ? basename(card.folder) : folder, said, "folder-opened");
      item.tooltip = trusted
        ? `Opens these rollouts as a run of ${config}.`
        : `Rollouts of ${config}. To open them as a run, trust this workspace.`;
      item.command = trusted
        ? { command: commands.runImport, title: "Open Run", arguments: [node] }
        : { command: "workbench.trust.manage", title: "Manage Workspace Trust" };
      return item;
    }
    case "log": {
      const item = fileRow(node.line, "output");
      item.command = trusted
        ? { command: commands.runImport, title: "Open Run", arguments: [node] }
        : { command: "vscode.open", title: "Open File", arguments: [uriOf(card, node.line.file)] };
      return item;
    }
    case "reward": {
      const item = rowOf("Check Reward", node.file, "beaker");
      item.tooltip = `Runs the reward of ${node.file} on reference answers, and on answers that should earn nothing.`;
      item.command = { command: commands.rewardCheck, title: "Check Reward", arguments: [node] };
      return item;
    }
  }
}

/** With what was found in the file. @param icon where that is nothing */
function fileRow({ label, said, tooltip, worst }: FileLine, icon: string): TreeItem {
  const item = rowOf(label, said, worst ?? icon);
  if (worst !== undefined) item.iconPath = new ThemeIcon(worst, new ThemeColor(colours[worst]));
  item.tooltip = tooltip;
  return item;
}

function rowOf(label: string, description: string, icon: string): TreeItem {
  const item = new TreeItem(label);
  item.description = description;
  item.iconPath = new ThemeIcon(icon);
  return item;
}

/** The launch that a row of a card stands for; undefined: the word is no such row. */
export function launchIn(word: unknown): Uri | undefined {
  const node = cardNodeIn(word);
  if (node?.kind === "file") return uriOf(node.card, node.line.file);
  return node?.kind === "reward" ? uriOf(node.card, node.file) : undefined;
}

/** The cell of a notebook that a row is about. */
export function cellIn(word: unknown): { readonly notebook: Uri; readonly cell: number } | undefined {
  const node = cardNodeIn(word);
  if (node?.kind !== "file" || node.line.cell === undefined) return undefined;
  return { notebook: uriOf(node.card, node.line.file), cell: node.line.cell };
}

/** The folder or log to open of a row, and the configuration that it came from, where that is known. */
export function outputIn(word: unknown): { readonly folder: string; readonly config?: string } | undefined {
  const node = cardNodeIn(word);
  if (node?.kind === "log") return { folder: uriOf(node.card, node.line.file).fsPath };
  if (node?.kind !== "output") return undefined;
  const { folder, config } = node.line;
  return { folder: resolve(node.card.folder, folder), config: resolve(node.card.folder, config) };
}

const cardNodeIn = (word: unknown): CardNode | undefined =>
  typeof word === "object" && word !== null && "card" in word ? (word as CardNode) : undefined;
