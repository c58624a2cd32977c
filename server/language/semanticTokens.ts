/** What words of a config mean, for editors that colour by it. */
import {
  SemanticTokensBuilder,
  type Range as LspRange,
  type SemanticTokens,
  type SemanticTokensLegend,
} from "vscode-languageserver";
import { fileReference } from "../config/check/method.ts";
import { textOf, type SourceNode } from "../config/text/node.ts";
import { wordsOf } from "../config/check/values.ts";
import { methodOf } from "../methods/index.ts";
import type { Range } from "../lib/lines.ts";
import type { Names } from "./names/occurrences.ts";
import type { NameKind } from "./names/naming.ts";
import { readMetric } from "./names/metricParts.ts";
import { slotOf } from "./spot.ts";
import { visits, type Visit } from "./walk.ts";

const types = [
  "namespace",
  "function",
  "parameter",
  "variable",
  "class",
  "struct",
  "property",
  "enumMember",
  "number",
  "macro",
  "event",
] as const;
const modifiers = ["declaration", "defaultLibrary", "readonly"] as const;
type Type = (typeof types)[number];
type Modifier = (typeof modifiers)[number];

export const legend: SemanticTokensLegend = { tokenTypes: [...types], tokenModifiers: [...modifiers] };

/** A stage is a namespace of overrides; a reward term a value that is computed. */
const typeOfName: Readonly<Record<NameKind, Type>> = {
  stage: "event",
  task: "class",
  term: "variable",
  model: "struct",
  head: "property",
};

interface SemanticToken {
  readonly range: Range;
  readonly type: Type;
  readonly modifiers: readonly Modifier[];
}

interface ColouredConfig {
  readonly text: string;
  readonly root: SourceNode | undefined;
  /** With all that it inherits. */
  readonly merged: SourceNode | undefined;
  readonly names: Names;
}

/** `within`: only the lines of that range. */
export function semanticTokens(config: ColouredConfig, within?: LspRange): SemanticTokens {
  const builder = new SemanticTokensBuilder();
  const inside = ({ range: { start } }: SemanticToken): boolean =>
    within === undefined || (start.line >= within.start.line && start.line <= within.end.line);
  for (const { range, type, modifiers: said } of ordered(tokensOf(config)).filter(inside))
    builder.push(
      range.start.line,
      range.start.character,
      range.end.character - range.start.character,
      types.indexOf(type),
      said.reduce((bits, one) => bits | (1 << modifiers.indexOf(one)), 0),
    );
  return builder.build();
}

function tokensOf({ root, merged, text, names }: ColouredConfig): SemanticToken[] {
  if (root === undefined) return [];
  const lines = text.split(/\r?\n/);
  const found = names.occurrences
    .filter(
      ({ implied, unwritten, name, role }) =>
        implied === undefined && unwritten === undefined && !(role === "declaration" && name === "policy"),
    )
    .map(({ kind, role, range }) =>
      token(range, typeOfName[kind], ...(role === "declaration" ? (["declaration"] as const) : [])),
    );
  for (const { name, range } of names.metrics)
    if (readMetric(name) !== undefined) found.push(token(range, "property", "readonly"));
  for (const visit of visits(root, merged)) found.push(...ofVisit(visit, lines));
  return found;
}

const token = (range: Range, type: Type, ...said: Modifier[]): SemanticToken => ({
  range,
  type,
  modifiers: said,
});

function ofVisit(visit: Visit, lines: readonly string[]): SemanticToken[] {
  const { key, path, node, parent, spot } = visit;
  const range = node.origin.range;
  const found: SemanticToken[] = [];
  if (key !== undefined && isParameter(visit)) found.push(token(key, "parameter"));
  if (key !== undefined && path.length === 1) found.push(token(key, "namespace"));
  if (node.kind !== "scalar") return found;
  if (path[0] === "extends") return [...found, token(range, "namespace", "readonly")];
  if (isMethod(visit)) found.push(token(range, "function", ...builtIn(visit)));
  else if (path.at(-1) === "schedule") found.push(token(range, "enumMember"));
  else if (isTemplate(visit)) found.push(...holesOf(range, lines));
  else if (typeof node.value === "string" && /^\d+(\.\d+)?\s?[KMGT]i?B$/.test(node.value))
    found.push(token(range, "number"));
  else if (typeof node.value === "string" && /\$\{env:\w+\}/.test(node.value))
    found.push(token(range, "macro"));
  else if (
    spot?.kind === "schema" &&
    typeof node.value === "string" &&
    isWord(spot.schema, node.value) &&
    parent !== undefined
  )
    found.push(token(range, "enumMember"));
  return found;
}

/** A key that belongs to the method, not to its slot. */
function isParameter({ parent, path }: Visit): boolean {
  const spot = parent?.spot;
  const last = path.at(-1);
  if (spot?.kind !== "shape" || spot.shape.kind !== "slot" || typeof last !== "string") return false;
  return !(last in spot.shape.own) && !["use", "env"].includes(last);
}

const isMethod = ({ spot, node }: Visit): boolean => textOf(node) !== undefined && slotOf(spot) !== undefined;

/** A method of Gradus, not a file of the person's. */
function builtIn({ spot, node }: Visit): Modifier[] {
  const text = textOf(node) ?? "";
  const slot = slotOf(spot);
  const own = slot === "reward" && fileReference(text) !== undefined;
  return slot !== undefined && !own && methodOf(slot, text) !== undefined ? ["defaultLibrary"] : [];
}

/** Texts of tasks with `{field}` in them. */
const isTemplate = ({ path, parent, node }: Visit): boolean =>
  textOf(node)?.includes("{") === true &&
  ["prompt", "answer", "solution", "begin"].includes(String(path.at(-1))) &&
  parent?.spot?.kind === "shape" &&
  parent.spot.shape.kind === "slot" &&
  parent.spot.shape.slot === "task";

function holesOf({ start, end }: Range, lines: readonly string[]): SemanticToken[] {
  const { line } = start;
  if (line !== end.line) return [];
  const text = (lines[line] ?? "").slice(start.character, end.character);
  return [...text.matchAll(/\{\w+\}/g)].map(({ 0: hole, index }) => {
    const from = start.character + index;
    return token({ start: { line, character: from }, end: { line, character: from + hole.length } }, "macro");
  });
}

const isWord = (schema: Parameters<typeof wordsOf>[0], value: string): boolean =>
  wordsOf(schema).includes(value);

/** In the order of the text, none over another: of two in one place the narrower is seen, then the earlier found. */
function ordered(tokens: readonly SemanticToken[]): SemanticToken[] {
  const width = ({ range }: SemanticToken): number => range.end.character - range.start.character;
  const painted = new Map<number, (SemanticToken | undefined)[]>();
  for (const one of [...tokens].reverse().sort((a, b) => width(b) - width(a))) {
    const { start, end } = one.range;
    if (start.line !== end.line) continue;
    const line = painted.get(start.line) ?? [];
    painted.set(start.line, line);
    for (let at = start.character; at < end.character; at++) line[at] = one;
  }
  return [...painted].sort(([a], [b]) => a - b).flatMap(([line, cells]) => runs(line, cells));
}

/** Neighbouring characters of one token. */
function runs(line: number, cells: readonly (SemanticToken | undefined)[]): SemanticToken[] {
  const found: SemanticToken[] = [];
  for (let at = 0; at < cells.length; at++) {
    const one = cells[at];
    if (one === undefined) continue;
    const from = at;
    while (cells[at + 1] === one) at++;
    found.push({ ...one, range: { start: { line, character: from }, end: { line, character: at + 1 } } });
  }
  return found;
}
