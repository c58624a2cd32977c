/** Functions of a Python file, by their heads and what they return. Nothing is executed. */
import { ExpressionReader, type PythonExpression } from "./expression.ts";
import { partsOf } from "../../../lib/python/parts.ts";
import { tokensOf, type PythonToken } from "../../../lib/python/tokens.ts";

export interface PythonFunction {
  readonly name: string;
  /** Names that an argument may be given by. */
  readonly parameters: readonly string[];
  /** Those of them that have no default. */
  readonly required: readonly string[];
  /** `**kwargs`. */
  readonly takesAny: boolean;
  /** What its own `return` statements give. */
  readonly returns: readonly PythonExpression[];
  /** Offset of the bracket that ends its parameters. */
  readonly close: number;
  readonly nameStart: number;
}

/** Functions at the left margin that nothing decorates; none of a name that is defined twice. */
export function functionsOf(text: string): Map<string, PythonFunction> {
  const tokens = tokensOf(text);
  const found = new Map<string, PythonFunction>();
  const twice = new Set<string>();
  tokens.forEach((token, i) => {
    const line = tokens[token.text === "def" && tokens[i - 1]?.text === "async" ? i - 2 : i - 1];
    if (token.kind !== "name" || token.text !== "def" || line?.kind !== "line" || line.indent !== 0) return;
    const one = functionAt(tokens, i + 1);
    if (one === undefined) return;
    if (found.has(one.name) || decorated(tokens, tokens.indexOf(line))) twice.add(one.name);
    found.set(one.name, one);
  });
  for (const name of twice) found.delete(name);
  return found;
}

function decorated(tokens: readonly PythonToken[], line: number): boolean {
  const before = tokens.findLastIndex(({ kind }, i) => i < line && kind === "line");
  return tokens[before + 1]?.text === "@";
}

function functionAt(tokens: readonly PythonToken[], at: number): PythonFunction | undefined {
  const name = tokens[at];
  if (name?.kind !== "name" || tokens[at + 1]?.text !== "(") return undefined;
  const { parts, end } = partsOf(tokens, at + 1);
  const close = tokens[end];
  if (close === undefined) return undefined;
  const named = parts.filter(([first]) => first?.kind === "name");
  const namesOf = (some: readonly PythonToken[][]): string[] => some.map(([first]) => first!.text);
  return {
    name: name.text,
    parameters: namesOf(named),
    required: namesOf(
      named.filter((part) => !part.some(({ kind, text }) => kind === "operator" && text === "=")),
    ),
    takesAny: parts.some(([first]) => first?.text === "**"),
    returns: returnsOf(tokens, end),
    close: close.start,
    nameStart: name.start,
  };
}

/** Skips functions inside it. */
function returnsOf(tokens: readonly PythonToken[], from: number): PythonExpression[] {
  const found: PythonExpression[] = [];
  let inner = Number.POSITIVE_INFINITY;
  for (let i = from; i < tokens.length; i++) {
    const token = tokens[i]!;
    if (token.kind !== "line") continue;
    if (token.indent === 0 && tokens[i + 1] !== undefined) break;
    if (token.indent <= inner) inner = Number.POSITIVE_INFINITY;
    const next = tokens[i + 1];
    if (
      inner === Number.POSITIVE_INFINITY &&
      (next?.text === "def" || next?.text === "class" || next?.text === "async")
    )
      inner = token.indent;
    if (inner === Number.POSITIVE_INFINITY && next?.kind === "name" && next.text === "return")
      found.push(new ExpressionReader(tokens, i + 2).expression());
  }
  return found;
}

/** Functions are read from a text once for as long as it is the same. */
let last: { readonly text: string; readonly functions: ReadonlyMap<string, PythonFunction> } | undefined;
export function parsed(text: string): ReadonlyMap<string, PythonFunction> {
  if (last?.text !== text) last = { text, functions: functionsOf(text) };
  return last.functions;
}
