/** Python expressions as far as configurations use them: literals, containers, arithmetic, names and calls. */
import type { Json } from "../../../../shared/lib/json.ts";
import type { CodeSpan } from "../shell/traced.ts";
import type { PythonToken } from "../../../lib/python/tokens.ts";

interface Keyword {
  readonly name: string;
  readonly nameSpan: CodeSpan;
  readonly value: PythonExpression;
}
export type PythonExpression = CodeSpan &
  (
    | { readonly kind: "value"; readonly value: Json }
    | { readonly kind: "list"; readonly items: readonly PythonExpression[] }
    | {
        readonly kind: "dict";
        readonly entries: readonly { readonly key: PythonExpression; readonly value: PythonExpression }[];
        readonly spreads: readonly PythonExpression[];
      }
    /** Dotted. */
    | { readonly kind: "name"; readonly name: string }
    | {
        readonly kind: "call";
        readonly callee: string;
        readonly positional: readonly PythonExpression[];
        readonly keywords: readonly Keyword[];
        /** `**options`. */
        readonly spreads: readonly PythonExpression[];
      }
    | {
        readonly kind: "operation";
        readonly operator: string;
        readonly left: PythonExpression;
        readonly right: PythonExpression;
      }
    | { readonly kind: "unknown" }
  );

const words: Readonly<Record<string, Json>> = { True: true, False: false, None: null };
const closers: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };
const levels: readonly (readonly string[])[] = [
  ["+", "-"],
  ["*", "/", "//", "%"],
];

/** Reads forward from a token; what it does not understand becomes `unknown` up to the next comma or bracket. */
export class ExpressionReader {
  constructor(
    private readonly tokens: readonly PythonToken[],
    public at = 0,
  ) {}

  expression(): PythonExpression {
    const first = this.at;
    const left = this.binary(0);
    return this.ends() ? left : this.skipped(first);
  }

  private get token(): PythonToken | undefined {
    return this.tokens[this.at];
  }
  private is(...texts: readonly string[]): boolean {
    const { token } = this;
    return (
      token !== undefined &&
      (token.kind === "operator" || token.kind === "name") &&
      texts.includes(token.text)
    );
  }
  private ends(): boolean {
    return (
      this.token === undefined || this.token.kind === "line" || this.is(",", ")", "]", "}", ":", "=", ";")
    );
  }

  /** Skips to the end of this item. */
  private skipped(first: number): PythonExpression {
    let depth = 0;
    for (; this.token !== undefined; this.at++) {
      if (depth === 0 && (this.token.kind === "line" || this.is(",", ")", "]", "}"))) break;
      if (this.is("(", "[", "{")) depth += 1;
      else if (this.is(")", "]", "}")) depth -= 1;
    }
    return { kind: "unknown", ...this.since(first) };
  }

  private since(first: number): CodeSpan {
    const start = this.tokens[first]?.start ?? 0;
    return { start, end: Math.max(start, this.tokens[this.at - 1]?.end ?? start) };
  }

  private binary(level: number): PythonExpression {
    const operators = levels[level];
    if (operators === undefined) return this.power();
    const first = this.at;
    let left = this.binary(level + 1);
    while (this.is(...operators)) {
      const operator = this.tokens[this.at++]!.text;
      const right = this.binary(level + 1);
      left = { kind: "operation", operator, left, right, ...this.since(first) };
    }
    return left;
  }

  private power(): PythonExpression {
    const first = this.at;
    if (this.is("-", "+")) {
      const operator = this.tokens[this.at++]!.text;
      const right = this.power();
      const zero: PythonExpression = { kind: "value", value: 0, start: right.start, end: right.start };
      return { kind: "operation", operator, left: zero, right, ...this.since(first) };
    }
    const base = this.postfix();
    if (!this.is("**")) return base;
    this.at += 1;
    const right = this.power();
    return { kind: "operation", operator: "**", left: base, right, ...this.since(first) };
  }

  private postfix(): PythonExpression {
    const first = this.at;
    let found = this.atom();
    for (;;) {
      if (this.is(".") && this.tokens[this.at + 1]?.kind === "name" && found.kind === "name") {
        this.at += 2;
        found = {
          kind: "name",
          name: `${found.name}.${this.tokens[this.at - 1]!.text}`,
          ...this.since(first),
        };
      } else if (this.is("(") && found.kind === "name") found = this.call(found.name, first);
      else if (this.is("[", "(", ".")) return this.skipped(first);
      else return found;
    }
  }

  private atom(): PythonExpression {
    const first = this.at;
    const { token } = this;
    if (token === undefined || this.ends()) return { kind: "unknown", ...this.since(first) };
    this.at += 1;
    switch (token.kind) {
      case "number":
        return { kind: "value", value: Number(token.text.replaceAll("_", "")), ...this.since(first) };
      case "text":
        return this.strings(first, token.text);
      case "name":
        if (["not", "lambda", "await"].includes(token.text)) return this.skipped(first);
        return token.text in words
          ? { kind: "value", value: words[token.text]!, ...this.since(first) }
          : { kind: "name", name: token.text, ...this.since(first) };
      case "operator":
        return token.text === "{" ? this.braces(first) : this.brackets(first, token.text);
      default:
        return this.skipped(first);
    }
  }

  /** Adjacent strings are one. */
  private strings(first: number, start: string): PythonExpression {
    let value = start;
    while (this.token?.kind === "text") value += this.tokens[this.at++]!.text;
    return this.token?.kind === "unknown"
      ? this.skipped(first)
      : { kind: "value", value, ...this.since(first) };
  }

  private brackets(first: number, open: string): PythonExpression {
    const close = closers[open];
    if (close === undefined) return this.skipped(first);
    const items: PythonExpression[] = [];
    let commas = 0;
    while (this.token !== undefined && !this.is(close)) {
      if (this.is("*")) return this.closed(first, close);
      const before = this.at;
      items.push(this.expression());
      if (this.loopsSince(before)) return this.closed(first, close);
      if (this.is(",")) {
        this.at += 1;
        commas += 1;
      } else if (!this.is(close)) return this.closed(first, close);
    }
    this.at += 1;
    const [only] = items;
    if (open === "(" && only !== undefined && commas === 0) return { ...only, ...this.since(first) };
    return { kind: "list", items, ...this.since(first) };
  }

  private braces(first: number): PythonExpression {
    const entries: { key: PythonExpression; value: PythonExpression }[] = [];
    const spreads: PythonExpression[] = [];
    while (this.token !== undefined && !this.is("}")) {
      if (this.is("**")) {
        this.at += 1;
        spreads.push(this.expression());
      } else {
        const key = this.expression();
        if (!this.is(":")) return this.closed(first, "}");
        this.at += 1;
        const before = this.at;
        entries.push({ key, value: this.expression() });
        if (this.loopsSince(before)) return this.closed(first, "}");
      }
      if (this.is(",")) this.at += 1;
      else if (!this.is("}")) return this.closed(first, "}");
    }
    this.at += 1;
    return { kind: "dict", entries, spreads, ...this.since(first) };
  }

  /** A comprehension: how many items it makes is known only when it runs. */
  private loopsSince(first: number): boolean {
    let depth = 0;
    return this.tokens.slice(first, this.at).some(({ kind, text }) => {
      if (kind === "operator" && "([{".includes(text)) depth += 1;
      if (kind === "operator" && ")]}".includes(text)) depth -= 1;
      return depth === 0 && kind === "name" && text === "for";
    });
  }

  /** Skips past the bracket that closes what was not understood. */
  private closed(first: number, close: string): PythonExpression {
    let depth = 0;
    for (; this.token !== undefined; this.at++) {
      if (this.is("(", "[", "{")) depth += 1;
      else if (depth === 0 && this.is(close)) break;
      else if (this.is(")", "]", "}")) depth -= 1;
    }
    this.at += 1;
    return { kind: "unknown", ...this.since(first) };
  }

  private call(callee: string, first: number): PythonExpression {
    const [positional, keywords, spreads]: [PythonExpression[], Keyword[], PythonExpression[]] = [[], [], []];
    this.at += 1;
    while (this.token !== undefined && !this.is(")")) {
      const before = this.at;
      const { token } = this;
      const next = this.tokens[this.at + 1];
      if (this.is("**", "*")) {
        this.at += 1;
        spreads.push(this.expression());
      } else if (token.kind === "name" && next?.kind === "operator" && next.text === "=") {
        this.at += 2;
        keywords.push({
          name: token.text,
          nameSpan: { start: token.start, end: token.end },
          value: this.expression(),
        });
      } else positional.push(this.expression());
      if (this.is(",")) this.at += 1;
      else if (!this.is(")")) this.at = Math.max(this.at, before + 1);
    }
    this.at += 1;
    return { kind: "call", callee, positional, keywords, spreads, ...this.since(first) };
  }
}

/** The value of an expression, given the values of its names; undefined if it cannot be known. */
export function evaluated(
  expression: PythonExpression | undefined,
  names: ReadonlyMap<string, PythonExpression> = new Map(),
  depth = 0,
): Json | undefined {
  if (expression === undefined || depth > 16) return undefined;
  const inner = (other: PythonExpression): Json | undefined => evaluated(other, names, depth + 1);
  switch (expression.kind) {
    case "value":
      return expression.value;
    case "name":
      return evaluated(names.get(expression.name), names, depth + 1);
    case "list": {
      const items = expression.items.map(inner);
      return items.every((item) => item !== undefined) ? items : undefined;
    }
    case "dict": {
      const entries = expression.entries.map(({ key, value }) => [inner(key), inner(value)] as const);
      const known = entries.flatMap(([key, value]) =>
        key === undefined || value === undefined ? [] : [[String(key), value] as const],
      );
      return known.length === entries.length && expression.spreads.length === 0
        ? Object.fromEntries(known)
        : undefined;
    }
    case "call": {
      const [only, ...others] = expression.positional.map(inner);
      const isWhole = expression.callee === "int" && typeof only === "number" && others.length === 0;
      return isWhole ? Math.trunc(only) : undefined;
    }
    case "operation":
      return computed(expression.operator, inner(expression.left), inner(expression.right));
    default:
      return undefined;
  }
}

function computed(operator: string, a: Json | undefined, b: Json | undefined): Json | undefined {
  if (operator === "+" && typeof a === "string" && typeof b === "string") return a + b;
  if (typeof a !== "number" || typeof b !== "number") return undefined;
  switch (operator) {
    case "+":
      return a + b;
    case "-":
      return a - b;
    case "*":
      return a * b;
    case "/":
      return a / b;
    case "//":
      return Math.floor(a / b);
    case "%":
      return a - b * Math.floor(a / b);
    case "**":
      return a ** b;
    default:
      return undefined;
  }
}
