/** The document's structure: symbols, folds and where a config's lenses stand. */
import {
  FoldingRangeKind,
  SymbolKind,
  type CodeLens,
  type DocumentSymbol,
  type FoldingRange,
} from "vscode-languageserver";
import { commands } from "../../shared/contributions.ts";
import type { Range } from "../config/diagnostic.ts";
import { nameOf } from "../config/method.ts";
import type { Origin, SourceNode } from "../config/node.ts";

const kinds: Readonly<Record<string, SymbolKind>> = {
  tasks: SymbolKind.Array,
  stages: SymbolKind.Array,
  terms: SymbolKind.Namespace,
};

export function symbols(root: SourceNode, depth = 0): DocumentSymbol[] {
  if (root.kind !== "map" || depth > 3) return [];
  return [...root.entries].map(([name, { key, value }]) => symbol(name, key, value, depth));
}

function symbol(name: string, key: Origin, value: SourceNode, depth: number): DocumentSymbol {
  const detail = value.kind === "scalar" && value.value !== null ? String(value.value) : "";
  const kind = kinds[name] ?? (value.kind === "scalar" ? SymbolKind.Property : SymbolKind.Object);
  return {
    name: name === "" ? '""' : name,
    detail,
    kind,
    range: spanning(key.range, value.origin.range),
    selectionRange: key.range,
    children: below(name, value, depth),
  };
}

function below(name: string, value: SourceNode, depth: number): DocumentSymbol[] {
  if (value.kind === "map") return symbols(value, depth + 1);
  if (value.kind !== "list" || (name !== "tasks" && name !== "stages")) return [];
  return value.items.map((item, index) => {
    const title = nameOf(item, name === "tasks" ? "task" : "stage") ?? String(index);
    const { range } = item.origin;
    return {
      name: title,
      kind: name === "stages" ? SymbolKind.Event : SymbolKind.Object,
      range,
      selectionRange: { start: range.start, end: range.start },
      children: symbols(item, depth + 1),
    };
  });
}

const spanning = (a: Range, b: Range): Range => {
  const later = b.end.line > a.end.line || (b.end.line === a.end.line && b.end.character > a.end.character);
  return { start: a.start, end: later ? b.end : a.end };
};

/** Every map and list over more than one line, and runs of comment lines. */
export function folds(root: SourceNode | undefined, text: string): FoldingRange[] {
  const found: FoldingRange[] = [];
  const lastLine = ({ end }: Range): number => (end.character === 0 ? end.line - 1 : end.line);
  const visit = (node: SourceNode, from: number): void => {
    const to = lastLine(node.origin.range);
    if (node.kind !== "scalar" && to > from) found.push({ startLine: from, endLine: to });
    if (node.kind === "map")
      for (const { key, value } of node.entries.values()) visit(value, key.range.start.line);
    if (node.kind === "list") for (const item of node.items) visit(item, item.origin.range.start.line);
  };
  if (root?.kind === "map")
    for (const { key, value } of root.entries.values()) visit(value, key.range.start.line);
  let start = -1;
  const lines = [...text.split("\n"), ""];
  lines.forEach((line, index) => {
    if (/^\s*#/.test(line)) start = start < 0 ? index : start;
    else {
      if (start >= 0 && index - start > 1)
        found.push({ startLine: start, endLine: index - 1, kind: FoldingRangeKind.Comment });
      start = -1;
    }
  });
  const seen = new Set<string>();
  return found.filter(
    ({ startLine, endLine }) => !seen.has(`${startLine} ${endLine}`) && seen.add(`${startLine} ${endLine}`),
  );
}

/** Where ▶ Run | Validate stand: above the first key. */
export function lensLine(root: SourceNode | undefined): number {
  if (root?.kind !== "map") return 0;
  return (
    Math.min(...[...root.entries.values()].map(({ key }) => key.range.start.line), Number.MAX_SAFE_INTEGER) %
    Number.MAX_SAFE_INTEGER
  );
}

export function lenses(root: SourceNode | undefined, uri: string): CodeLens[] {
  const line = lensLine(root);
  const range = { start: { line, character: 0 }, end: { line, character: 0 } };
  return [
    { range, command: { title: "▶ Run", command: commands.runStart, arguments: [uri] } },
    { range, command: { title: "Validate", command: commands.configValidate, arguments: [uri] } },
  ];
}
