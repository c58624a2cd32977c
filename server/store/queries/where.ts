/**
 * The `where` expression of rollouts: comparisons joined by `&&`, `||`, `!` and parentheses, compiled to SQL in which
 * every literal is a bound parameter and every name one of the list below.
 *
 *   reward > 0.5 && finish == "length"
 *   rewards.correct == 1 || !(response contains "answer")
 *   length(response) >= 200 && admitted == false
 *   criteria.style["names the dose"] == 0
 *   components.correct["acc"] == 1
 */
import { UserError } from "../../../shared/lib/errors.ts";

export interface Compiled {
  readonly sql: string;
  readonly parameters: readonly (string | number)[];
}

const columns: Readonly<Record<string, string>> = {
  reward: "r.reward",
  advantage: "r.advantage",
  finish: "r.finish",
  arm: "r.arm",
  family: "coalesce(r.family, r.arm)",
  group: "r.name",
  index: "r.idx",
  step: "r.step",
  attempt: "r.attempt",
  task: "r.task",
  env: "r.env",
  source: "r.source",
  use: "r.use",
  admitted: "r.admitted",
  tokens: "r.tokens",
  response: "r.response",
  prompt: "p.text",
};
const texts = new Set([
  "response",
  "prompt",
  "finish",
  "arm",
  "family",
  "group",
  "task",
  "env",
  "source",
  "use",
]);
/** What is asked of terms. */
const tables: ReadonlySet<string> = new Set(["rewards", "errors", "criteria", "components"]);
const names = `${Object.keys(columns).join(", ")}, rewards.<term>, errors.<term>, criteria.<term>["criterion"], components.<term>["name"], length(response), length(prompt)`;
const comparisons = new Set(["==", "=", "!=", "<", "<=", ">", ">=", "contains"]);

interface QueryToken {
  readonly kind: "name" | "number" | "text" | "sign" | "end";
  readonly value: string;
  readonly at: number;
}

const pattern =
  /\s*(?:(?<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)|(?<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(?<name>[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w/@-]*)?)|(?<sign>&&|\|\||==|!=|<=|>=|[<>=!()[\]]))/y;

function scan(source: string): QueryToken[] {
  const tokens: QueryToken[] = [];
  pattern.lastIndex = 0;
  while (pattern.lastIndex < source.trimEnd().length) {
    const begin = pattern.lastIndex;
    const match = pattern.exec(source);
    if (match === null)
      throw fail(source, begin + (/^\s*/.exec(source.slice(begin))?.[0].length ?? 0), "is not understood");
    const at = begin + match[0].length - match[0].trimStart().length;
    const [kind, value] = Object.entries(match.groups ?? {}).find(([, text]) => text !== undefined) ?? [
      "end",
      "",
    ];
    tokens.push({ kind: kind === "number" || kind === "text" || kind === "name" ? kind : "sign", value, at });
  }
  return [...tokens, { kind: "end", value: "", at: source.length }];
}

function fail(source: string, at: number, problem: string): UserError {
  const found =
    at >= source.trimEnd().length ? "the end of the expression" : `"${source.slice(at, at + 12)}"`;
  return new UserError(`where: ${found} at character ${at + 1} ${problem}.`, {
    code: "where",
    action: `Compare ${names} with ==, !=, <, <=, >, >= or contains; combine with &&, ||, ! and parentheses. Example: reward > 0.5 && finish == "length"`,
  });
}

/** @throws UserError naming the place and what may be there */
export function compileWhere(source: string): Compiled {
  const parser = new Parser(source, scan(source));
  return parser.all();
}

class Parser {
  private position = 0;
  private depth = 0;
  private readonly parameters: (string | number)[] = [];

  constructor(
    private readonly source: string,
    private readonly tokens: readonly QueryToken[],
  ) {}

  all(): Compiled {
    const sql = this.any();
    if (this.peek().kind !== "end") throw this.problem("is not expected here; join conditions with && or ||");
    return { sql, parameters: this.parameters };
  }

  private peek(): QueryToken {
    return this.tokens[this.position] ?? { kind: "end", value: "", at: this.source.length };
  }
  private next(): QueryToken {
    const token = this.peek();
    this.position++;
    return token;
  }
  private accept(value: string): boolean {
    const token = this.peek();
    if (token.kind === "text" || token.kind === "number" || token.value !== value) return false;
    this.position++;
    return true;
  }
  private problem(text: string, token = this.peek()): UserError {
    return fail(this.source, token.at, text);
  }

  private any(): string {
    let sql = this.every();
    while (this.accept("||")) sql = `(${sql} OR ${this.every()})`;
    return sql;
  }
  private every(): string {
    let sql = this.one();
    while (this.accept("&&")) sql = `(${sql} AND ${this.one()})`;
    return sql;
  }
  private one(): string {
    if (++this.depth > 200) throw this.problem("is nested too deeply");
    try {
      if (this.accept("!")) return `(NOT ${this.one()})`;
      if (!this.accept("(")) return this.comparison();
      const sql = this.any();
      if (!this.accept(")")) throw this.problem('should be ")"');
      return sql;
    } finally {
      this.depth--;
    }
  }

  /** Two-valued: a comparison with a value that does not exist is false, so its negation is true. */
  private comparison(): string {
    const name = this.peek();
    const left = this.operand();
    const token = this.next();
    if (!comparisons.has(token.value) || token.kind === "text")
      throw this.problem("should be a comparison: ==, !=, <, <=, >, >= or contains", token);
    const right = this.next();
    const equal = token.value === "==" || token.value === "=";
    if (right.kind === "name" && right.value === "null") {
      if (!equal && token.value !== "!=") throw this.problem("can only be compared with == or !=", right);
      return `(${left} IS ${equal ? "" : "NOT "}NULL)`;
    }
    const value = this.literal(right);
    const text = texts.has(name.value) || name.value.startsWith("errors");
    if (text !== (typeof value === "string"))
      throw this.problem(`should be ${text ? "text in quotes" : "a number"}, like ${name.value}`, right);
    this.parameters.push(value);
    if (token.value === "contains") {
      if (!text) throw this.problem(`works only on text: ${[...texts].join(", ")}`, token);
      return `coalesce(instr(${left}, ?) > 0, 0)`;
    }
    if (token.value === "!=") return `coalesce(${left} <> ?, 1)`;
    return `coalesce(${left} ${equal ? "=" : token.value} ?, 0)`;
  }

  private literal(token: QueryToken): string | number {
    if (token.kind === "number") return Number(token.value);
    if (token.kind === "text") return unquoted(token.value);
    if (token.kind === "name" && (token.value === "true" || token.value === "false"))
      return token.value === "true" ? 1 : 0;
    throw this.problem("should be a number, text in quotes, true, false or null", token);
  }

  private operand(): string {
    const token = this.next();
    if (token.kind !== "name") throw this.problem(`should be one of ${names}`, token);
    if (token.value === "length") return this.length();
    const column = Object.hasOwn(columns, token.value) ? columns[token.value] : undefined;
    if (column !== undefined) return column;
    const term = this.term(token);
    const table = token.value.split(".")[0];
    if (term === undefined || table === undefined || !tables.has(table))
      throw this.problem(`is unknown; there are ${names}`, token);
    if (table === "criteria") return this.criterion(term);
    const component = table === "components" ? `.${JSON.stringify(this.component())}` : "";
    this.parameters.push(`$.${table}.${JSON.stringify(term)}${component}`);
    if (table === "errors") return "json_extract(r.terms, ?)";
    // Only a plain number counts: "NaN" is stored as a text, and values per token as an object.
    this.parameters.push(this.parameters.at(-1) ?? "");
    return "CASE WHEN json_type(r.terms, ?) IN ('integer', 'real') THEN json_extract(r.terms, ?) END";
  }

  /** Of a term, in brackets. */
  private component(): string {
    const name = this.quoted("a component's name");
    if (name === undefined)
      throw this.problem('should be a component in brackets: components.correct["acc"]');
    return name;
  }

  /** How far a criterion of a term is met, by its name or text; NULL where it was not asked, or is not known. */
  private criterion(term: string): string {
    const name = this.quoted("a criterion's name");
    if (name === undefined)
      throw this.problem('should be a criterion in brackets: criteria.style["is polite"]');
    const path = `$.judged.${JSON.stringify(term)}`;
    this.parameters.push(`${path}.met[`, `${path}.of`, name, name);
    return (
      "(SELECT json_extract(r.terms, ? || k.key || ']') FROM criteria c, json_each(c.list) k " +
      "WHERE c.run = r.run AND c.id = json_extract(r.terms, ?) " +
      "AND (json_extract(k.value, '$.name') = ? OR json_extract(k.value, '$.text') = ?) LIMIT 1)"
    );
  }

  /** `rewards.correct` or `rewards["any name"]`. */
  private term(token: QueryToken): string | undefined {
    const dot = token.value.indexOf(".");
    return dot === -1 ? this.quoted("a term's name") : token.value.slice(dot + 1);
  }

  /** `["any name"]`; undefined where there is none. */
  private quoted(what: string): string | undefined {
    if (!this.accept("[")) return undefined;
    const name = this.next();
    if (name.kind !== "text" || !this.accept("]"))
      throw this.problem(`should be ${what} in quotes and "]"`, name);
    return unquoted(name.value);
  }

  private length(): string {
    if (!this.accept("(")) throw this.problem('should be "(": length(response) or length(prompt)');
    const field = this.next();
    if (field.value !== "response" && field.value !== "prompt")
      throw this.problem("should be response or prompt", field);
    if (!this.accept(")")) throw this.problem('should be ")"');
    return `length(${columns[field.value] ?? ""})`;
  }
}

const unquoted = (text: string): string =>
  text
    .slice(1, -1)
    .replace(/\\(.)/g, (_, character: string) =>
      character === "n" ? "\n" : character === "t" ? "\t" : character,
    );
