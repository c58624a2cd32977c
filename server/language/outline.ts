/** The document's structure: symbols and folds. */
import { FoldingRangeKind, SymbolKind, type DocumentSymbol, type FoldingRange } from "vscode-languageserver";
import type { Range } from "../lib/lines.ts";
import { nameOf } from "../config/check/method.ts";
import { child, type MapNode, type Origin, type SourceNode } from "../config/text/node.ts";

/** Blocks whose entries are things with names. */
const named: Readonly<Record<string, { readonly block: SymbolKind; readonly item: SymbolKind }>> = {
  tasks: { block: SymbolKind.Array, item: SymbolKind.Class },
  stages: { block: SymbolKind.Array, item: SymbolKind.Event },
  terms: { block: SymbolKind.Namespace, item: SymbolKind.Variable },
  models: { block: SymbolKind.Namespace, item: SymbolKind.Struct },
};

export function symbols(root: SourceNode): DocumentSymbol[] {
  return root.kind === "map" ? entries(root, undefined, 0) : [];
}

const entries = (node: MapNode, within: string | undefined, depth: number): DocumentSymbol[] =>
  depth > 3
    ? []
    : [...node.entries].map(([name, { key, value }]) => entrySymbol(name, key, value, within, depth));

function entrySymbol(
  name: string,
  key: Origin,
  value: SourceNode,
  within: string | undefined,
  depth: number,
): DocumentSymbol {
  const plain = value.kind === "map" ? SymbolKind.Object : SymbolKind.Property;
  return {
    // An editor refuses a symbol without a name.
    name: name === "" ? '""' : name,
    detail: detail(value, within),
    kind: named[name]?.block ?? named[within ?? ""]?.item ?? plain,
    range: spanning(key.range, value.origin.range),
    selectionRange: key.range,
    children: below(name, value, depth),
  };
}

function below(name: string, value: SourceNode, depth: number): DocumentSymbol[] {
  if (value.kind === "map") return entries(value, name, depth + 1);
  if (value.kind !== "list" || (name !== "tasks" && name !== "stages")) return [];
  return value.items.map((item, index) => {
    const { range } = item.origin;
    const written = child(item, "name")?.origin.range;
    return {
      name: nameOf(item, name === "tasks" ? "task" : "stage") ?? String(index),
      detail: detail(item, name),
      kind: named[name]?.item ?? SymbolKind.Object,
      range,
      selectionRange: written ?? { start: range.start, end: range.start },
      children: item.kind === "map" ? entries(item, undefined, depth + 1) : [],
    };
  });
}

/** What distinguishes it at a glance: a value, a method and its weight, a stage's kind and steps. */
function detail(node: SourceNode, within: string | undefined): string {
  if (node.kind === "scalar") return node.value === null ? "" : String(node.value);
  if (node.kind === "list") {
    const words = node.items.flatMap((item) => (item.kind === "scalar" ? String(item.value) : []));
    return words.length === node.items.length ? words.join(", ") : `${node.items.length}`;
  }
  const said = (key: string): string | undefined => {
    const value = child(node, key);
    return value?.kind === "scalar" && value.value !== null ? String(value.value) : undefined;
  };
  if (within === "stages") {
    const steps = said("steps");
    return [said("kind") ?? "rl", ...(steps === undefined ? [] : [`${steps} steps`])].join(" · ");
  }
  const method =
    said("use") ??
    said("env") ??
    said("dataset") ??
    said("corpus") ??
    said("harbor") ??
    said("base") ??
    said("model");
  const weight = said("weight");
  return [method, weight === undefined ? undefined : `× ${weight}`]
    .filter((part) => part !== undefined)
    .join(" ");
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
