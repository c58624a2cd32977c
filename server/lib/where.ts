/**
 * The language of `--where`, for rollouts and for runs: comparisons joined by `&&` or `and`, `||` or `or`, `!` or `not`,
 * and parentheses. What names there are, and what a comparison becomes, each use says for itself.
 */
import { UserError } from "../../shared/lib/errors.ts";

export interface WhereToken {
  readonly kind: "name" | "number" | "text" | "sign" | "end";
  readonly value: string;
  readonly at: number;
}

export interface Literal {
  readonly token: WhereToken;
  /** What quotes, numbers, true, false and null mean. */
  readonly value: string | number | boolean | null;
}

export interface WhereLanguage {
  /** A pattern for names that begin with a letter or an underscore. */
  readonly name: string;
  /** What a number may end in: `2d`. Factors by their words. */
  readonly units?: Readonly<Record<string, number>>;
  readonly comparisons: readonly string[];
  /** What the action of an error says may be compared. */
  readonly names: string;
  readonly example: string;
}

/** Conditions joined; `Leaf` is what a use makes of a comparison. */
export type Condition<Leaf> =
  | { readonly kind: "all" | "any"; readonly of: readonly Condition<Leaf>[] }
  | { readonly kind: "not"; readonly of: Condition<Leaf> }
  | { readonly kind: "leaf"; readonly leaf: Leaf };

/** Deeper than anyone writes, and shallow enough for the stack. */
const deepest = 200;
const comparisonSigns = ["==", "!=", "<=", ">=", "<", ">", "=", "~"];
const words: Readonly<Record<string, string>> = { and: "&&", or: "||", not: "!" };
const escaped = (text: string): string => text.replace(/[|()[\]]/g, "\\$&");

function patternOf({ name, units = {}, comparisons }: WhereLanguage): RegExp {
  const signs = comparisonSigns.filter((sign) => comparisons.includes(sign));
  const ends = Object.keys(units).join("|");
  const unit = ends === "" ? "" : `(?: ?(?:${ends})\\b)?`;
  return new RegExp(
    String.raw`\s*(?:(?<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?${unit})|(?<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(?<name>[A-Za-z_]${name})|(?<sign>&&|\|\||${signs.map(escaped).join("|")}|[!()[\]]))`,
    "y",
  );
}

/** Reads an expression from left to right; `leaf` reads a comparison. */
export class WhereParser<Leaf> {
  private readonly tokens: readonly WhereToken[];
  private position = 0;
  private depth = 0;

  constructor(
    readonly source: string,
    private readonly language: WhereLanguage,
    private readonly leaf: (parser: WhereParser<Leaf>) => Leaf,
  ) {
    this.tokens = this.scan();
  }

  /** @throws UserError naming the place and what may be there */
  condition(): Condition<Leaf> {
    const all = this.any();
    if (this.peek().kind !== "end") throw this.problem("is not expected here; join conditions with && or ||");
    return all;
  }

  peek(): WhereToken {
    return this.tokens[this.position] ?? { kind: "end", value: "", at: this.source.length };
  }
  next(): WhereToken {
    const token = this.peek();
    this.position++;
    return token;
  }
  accept(value: string): boolean {
    const token = this.peek();
    if (token.kind === "text" || token.kind === "number" || (words[token.value] ?? token.value) !== value)
      return false;
    this.position++;
    return true;
  }

  problem(text: string, { at } = this.peek()): UserError {
    const { source, language } = this;
    const found =
      at >= source.trimEnd().length ? "the end of the expression" : `"${source.slice(at, at + 12)}"`;
    return new UserError(`where: ${found} at character ${at + 1} ${text}.`, {
      code: "where",
      action: `Compare ${language.names} with ${listed(language.comparisons)}; combine with &&, ||, ! and parentheses. Example: ${language.example}`,
    });
  }

  /** The comparison's sign. */
  sign(): WhereToken {
    const token = this.next();
    if (!this.language.comparisons.includes(token.value) || token.kind === "text")
      throw this.problem(`should be a comparison: ${listed(this.language.comparisons)}`, token);
    return token;
  }

  literal(): Literal {
    const token = this.next();
    const { kind, value } = token;
    if (kind === "number") return { token, value: this.numberOf(value) };
    if (kind === "text") return { token, value: unquoted(value) };
    if (kind === "name" && value === "null") return { token, value: null };
    if (kind === "name" && (value === "true" || value === "false")) return { token, value: value === "true" };
    throw this.problem("should be a number, text in quotes, true, false or null", token);
  }

  /** `["any name"]`; undefined where there is none. */
  quoted(what: string): string | undefined {
    if (!this.accept("[")) return undefined;
    const name = this.next();
    if (name.kind !== "text" || !this.accept("]"))
      throw this.problem(`should be ${what} in quotes and "]"`, name);
    return unquoted(name.value);
  }

  private numberOf(text: string): number {
    const [unit, factor] =
      Object.entries(this.language.units ?? {}).find(([end]) => text.endsWith(end)) ?? [];
    return unit === undefined || factor === undefined
      ? Number(text)
      : Number(text.slice(0, -unit.length)) * factor;
  }

  private scan(): WhereToken[] {
    const { source } = this;
    const tokens: WhereToken[] = [];
    const pattern = patternOf(this.language);
    while (pattern.lastIndex < source.trimEnd().length) {
      const begin = pattern.lastIndex;
      const match = pattern.exec(source);
      if (match === null)
        throw this.problem("is not understood", {
          kind: "end",
          value: "",
          at: begin + (/^\s*/.exec(source.slice(begin))?.[0].length ?? 0),
        });
      const at = begin + match[0].length - match[0].trimStart().length;
      const [kind, value] = Object.entries(match.groups ?? {}).find(([, text]) => text !== undefined) ?? [
        "end",
        "",
      ];
      tokens.push({
        kind: kind === "number" || kind === "text" || kind === "name" ? kind : "sign",
        value,
        at,
      });
    }
    return [...tokens, { kind: "end", value: "", at: source.length }];
  }

  private any(): Condition<Leaf> {
    return this.joined("any", "||", () => this.every());
  }
  private every(): Condition<Leaf> {
    return this.joined("all", "&&", () => this.one());
  }
  private joined(kind: "all" | "any", sign: string, part: () => Condition<Leaf>): Condition<Leaf> {
    const of = [part()];
    while (this.accept(sign)) of.push(part());
    return of.length === 1 ? of[0]! : { kind, of };
  }
  private one(): Condition<Leaf> {
    if (++this.depth > deepest) throw this.problem("is nested too deeply");
    try {
      if (this.accept("!")) return { kind: "not", of: this.one() };
      if (!this.accept("(")) return { kind: "leaf", leaf: this.leaf(this) };
      const inner = this.any();
      if (!this.accept(")")) throw this.problem('should be ")"');
      return inner;
    } finally {
      this.depth--;
    }
  }
}

const listed = (signs: readonly string[]): string => {
  const shown = signs.filter((sign) => sign !== "=");
  return `${shown.slice(0, -1).join(", ")} or ${shown.at(-1)}`;
};

const unquoted = (text: string): string =>
  text
    .slice(1, -1)
    .replace(/\\(.)/g, (_, character: string) =>
      character === "n" ? "\n" : character === "t" ? "\t" : character,
    );
