/** YAML text → values with positions, and its syntax errors in plain words, each at its root. */
import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  parseDocument,
  Scalar as YamlScalar,
  type Alias,
  type Document,
  type Node,
  type Pair,
} from "yaml";
import { aliasTargets, mostAliased, tooManyAliases } from "../../lib/yamlAliases.ts";
import type { Diagnostic, Fix } from "../check/diagnostic.ts";
import { LineTable, type Range } from "../../lib/lines.ts";
import { spaceFix, spaceWords, unspaced } from "./missingSpace.ts";
import { TextOrigin, mapNode, type MapEntry, type Origin, type Scalar, type SourceNode } from "./node.ts";
import { repeatedKeys } from "./repeatedKeys.ts";
import { syntaxErrors } from "./syntaxErrors.ts";

export interface SourceFile {
  readonly file: string;
  readonly text: string;
  /** undefined when the text is empty, holds only comments, or cannot be read. */
  readonly root: SourceNode | undefined;
  readonly diagnostics: readonly Diagnostic[];
  readonly rangeOf: (start: number, end: number) => Range;
  /** Values of its aliases. */
  readonly aliased: number;
}

/** Deeper nesting than this is refused: an alias that holds itself would never end. */
const deepest = 64;

export function parseSource(file: string, text: string, origin: Omit<Origin, "range">): SourceFile {
  const lines = new LineTable(text);
  const document = parseDocument(text, {
    // The parser would compare each key of a block with all before it: `repeatedKeys` looks each one up.
    uniqueKeys: false,
    prettyErrors: false,
    // "silent" would also keep quiet about a second document; nothing is printed at this level either.
    logLevel: "error",
  });
  const rangeOf: SourceFile["rangeOf"] = (start, end) => lines.between(start, end);
  const diagnostics = syntaxErrors(file, text, repeatedKeys(document), rangeOf);
  const convert = new Converter(document, origin, rangeOf);
  const root = document.contents === null ? undefined : convert.node(document.contents, 0);
  for (const { message, range, fix } of convert.problems) {
    diagnostics.push({
      severity: "error",
      rule: "syntax",
      message,
      key: "",
      file,
      range: rangeOf(...range),
      fixes: fix === undefined ? [] : [fix],
    });
  }
  return { file, text, root, diagnostics, rangeOf, aliased: convert.aliased };
}

const parsedFiles = new Map<string, SourceFile>();
/** Files whose tree is kept. */
const most = 64;

/** The same tree as long as the text is the same: of files that others extend, which seldom change. */
export function parsedBefore(file: string, text: string, origin: Omit<Origin, "range">): SourceFile {
  const id = JSON.stringify([file, origin.folder, origin.via, origin.layer]);
  const known = parsedFiles.get(id);
  const found = known?.text === text ? known : parseSource(file, text, origin);
  parsedFiles.delete(id);
  parsedFiles.set(id, found);
  const [oldest] = parsedFiles.keys();
  if (parsedFiles.size > most && oldest !== undefined) parsedFiles.delete(oldest);
  return found;
}

interface Problem {
  readonly message: string;
  readonly range: [number, number];
  readonly fix?: Fix;
}

class Converter {
  readonly problems: Problem[] = [];
  aliased = 0;
  private exhausted = false;
  /** How many aliases lead to the present node. */
  private aliasDepth = 0;
  private targets: ReadonlyMap<Alias, Node> | undefined;

  constructor(
    private readonly document: Document,
    private readonly base: Omit<Origin, "range">,
    private readonly rangeOf: (start: number, end: number) => Range,
  ) {}

  node(node: Node, depth: number): SourceNode {
    const [start, end] = node.range ?? [0, 0];
    const origin = new TextOrigin(this.base, start, end, this.rangeOf);
    const nothing: SourceNode = { kind: "scalar", value: null, origin };
    if (this.aliasDepth > 0) this.aliased += 1;
    if (this.aliased > mostAliased) return nothing;
    if (depth > deepest) {
      this.problems.push({
        message: "This is nested more than 64 levels deep: an alias probably contains itself.",
        range: [start, end],
      });
      return nothing;
    }
    if (isAlias(node)) return this.alias(node, depth) ?? nothing;
    if (isMap(node)) return mapNode(origin, this.entries(node.items, depth));
    if (isSeq(node)) {
      const items = node.items.filter((item): item is Node => isNode(item));
      return { kind: "list", items: items.map((item) => this.node(item, depth + 1)), origin };
    }
    return isScalar(node) ? { kind: "scalar", value: scalarOf(node.value), origin } : nothing;
  }

  private alias(node: Alias, depth: number): SourceNode | undefined {
    const [start, end] = node.range ?? [0, 0];
    const target = (this.targets ??= aliasTargets(this.document)).get(node);
    if (target === undefined) {
      this.problems.push({
        message: `There is no anchor &${node.source} above this line.`,
        range: [start, end],
      });
      return undefined;
    }
    this.aliasDepth += 1;
    const found = this.node(target, depth + 1);
    this.aliasDepth -= 1;
    // Told once, where the text itself has the alias; whatever else was found would be its echo.
    if (this.aliasDepth === 0 && this.aliased > mostAliased && !this.exhausted) {
      this.exhausted = true;
      this.problems.splice(0, Number.POSITIVE_INFINITY, { message: tooManyAliases, range: [start, end] });
    }
    return found;
  }

  private entries(pairs: readonly Pair[], depth: number): Map<string, MapEntry> {
    const merged = new Map<string, MapEntry>();
    const own = new Map<string, MapEntry>();
    for (const { key, value } of pairs) {
      if (!isScalar(key) || this.exhausted) continue;
      const [start, end] = key.range ?? [0, 0];
      const spaced = value === null ? this.spaced(key) : undefined;
      if (spaced !== undefined) {
        if (!own.has(spaced.name)) own.set(spaced.name, spaced.entry);
        continue;
      }
      const at = new TextOrigin(this.base, start, end, this.rangeOf);
      const converted: SourceNode = isNode(value)
        ? this.node(value, depth + 1)
        : { kind: "scalar", value: null, origin: new TextOrigin(this.base, end, end, this.rangeOf) };
      if (key.value === "<<") {
        if (converted.kind === "map") for (const [name, inner] of converted.entries) merged.set(name, inner);
        else
          this.problems.push({
            message: "`<<` takes a map: point it at an anchor, as in `<<: *name`.",
            range: [start, end],
          });
      } else own.set(String(key.value), { key: at, value: converted });
    }
    return new Map([...merged, ...own]);
  }

  /** `{ use:prompt }` is one key without a value. It is reported, and read as what was meant. */
  private spaced(key: YamlScalar): { readonly name: string; readonly entry: MapEntry } | undefined {
    const [start, end] = key.range ?? [0, 0];
    const found =
      key.type === YamlScalar.PLAIN && typeof key.value === "string" ? unspaced(key.value) : undefined;
    const read = found === undefined ? undefined : parseDocument(found.value);
    // What cannot follow a space either is no value.
    if (found === undefined || read === undefined || read.errors.length > 0) return undefined;
    const colon = start + found.key.length;
    const fix = spaceFix([this.rangeOf(colon + 1, colon + 1)]);
    this.problems.push({ message: spaceWords(found), range: [start, end], fix });
    const at = (from: number, to: number): Origin => new TextOrigin(this.base, from, to, this.rangeOf);
    const value: SourceNode = {
      kind: "scalar",
      value: scalarOf(read.toJS()),
      origin: at(colon + 1, end),
    };
    return { name: found.key, entry: { key: at(start, colon), value } };
  }
}

const isNode = (value: unknown): value is Node =>
  isMap(value) || isSeq(value) || isScalar(value) || isAlias(value);

function scalarOf(value: unknown): Scalar {
  if (value === null || typeof value === "boolean" || typeof value === "number" || typeof value === "string")
    return value;
  return typeof value === "bigint" ? Number(value) : String(value);
}
