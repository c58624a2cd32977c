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
import { WhereParser, type Condition, type WhereLanguage, type WhereToken } from "../../lib/where.ts";

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
const language: WhereLanguage = {
  name: String.raw`[\w-]*(?:\.[A-Za-z_][\w/@-]*)?`,
  comparisons: ["==", "=", "!=", "<", "<=", ">", ">=", "contains"],
  names,
  example: 'reward > 0.5 && finish == "length"',
};

/** @throws UserError naming the place and what may be there */
export function compileWhere(source: string): Compiled {
  const parser = new WhereParser<Compiled>(source, language, (at) => new Comparison(at).compiled());
  return joined(parser.condition());
}

function joined(condition: Condition<Compiled>): Compiled {
  if (condition.kind === "leaf") return condition.leaf;
  if (condition.kind === "not") {
    const { sql, parameters } = joined(condition.of);
    return { sql: `(NOT ${sql})`, parameters };
  }
  const parts = condition.of.map(joined);
  return {
    sql: `(${parts.map(({ sql }) => sql).join(condition.kind === "all" ? " AND " : " OR ")})`,
    parameters: parts.flatMap(({ parameters }) => parameters),
  };
}

class Comparison {
  private readonly parameters: (string | number)[] = [];

  constructor(private readonly parser: WhereParser<Compiled>) {}

  compiled(): Compiled {
    const sql = this.sql();
    return { sql, parameters: this.parameters };
  }

  /** Two-valued: a comparison with a value that does not exist is false, so its negation is true. */
  private sql(): string {
    const { parser } = this;
    const name = parser.peek();
    const left = this.operand();
    const sign = parser.sign();
    const { token, value } = parser.literal();
    const equal = sign.value === "==" || sign.value === "=";
    if (value === null) {
      if (!equal && sign.value !== "!=") throw parser.problem("can only be compared with == or !=", token);
      return `(${left} IS ${equal ? "" : "NOT "}NULL)`;
    }
    const text = texts.has(name.value) || name.value.startsWith("errors");
    if (text !== (typeof value === "string"))
      throw parser.problem(`should be ${text ? "text in quotes" : "a number"}, like ${name.value}`, token);
    this.parameters.push(typeof value === "boolean" ? Number(value) : value);
    if (sign.value === "contains") {
      if (!text) throw parser.problem(`works only on text: ${[...texts].join(", ")}`, sign);
      return `coalesce(instr(${left}, ?) > 0, 0)`;
    }
    if (sign.value === "!=") return `coalesce(${left} <> ?, 1)`;
    return `coalesce(${left} ${equal ? "=" : sign.value} ?, 0)`;
  }

  private operand(): string {
    const { parser } = this;
    const token = parser.next();
    if (token.kind !== "name") throw parser.problem(`should be one of ${names}`, token);
    if (token.value === "length") return this.length();
    const column = Object.hasOwn(columns, token.value) ? columns[token.value] : undefined;
    if (column !== undefined) return column;
    const term = this.term(token);
    const table = token.value.split(".")[0];
    if (term === undefined || table === undefined || !tables.has(table))
      throw parser.problem(`is unknown; there are ${names}`, token);
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
    const name = this.parser.quoted("a component's name");
    if (name === undefined)
      throw this.parser.problem('should be a component in brackets: components.correct["acc"]');
    return name;
  }

  /** How far a criterion of a term is met, by its name or text; NULL where it was not asked, or is not known. */
  private criterion(term: string): string {
    const name = this.parser.quoted("a criterion's name");
    if (name === undefined)
      throw this.parser.problem('should be a criterion in brackets: criteria.style["is polite"]');
    const path = `$.judged.${JSON.stringify(term)}`;
    this.parameters.push(`${path}.met[`, `${path}.of`, name, name);
    return (
      "(SELECT json_extract(r.terms, ? || k.key || ']') FROM criteria c, json_each(c.list) k " +
      "WHERE c.run = r.run AND c.id = json_extract(r.terms, ?) " +
      "AND (json_extract(k.value, '$.name') = ? OR json_extract(k.value, '$.text') = ?) LIMIT 1)"
    );
  }

  /** `rewards.correct` or `rewards["any name"]`. */
  private term(token: WhereToken): string | undefined {
    const dot = token.value.indexOf(".");
    return dot === -1 ? this.parser.quoted("a term's name") : token.value.slice(dot + 1);
  }

  private length(): string {
    const { parser } = this;
    if (!parser.accept("(")) throw parser.problem('should be "(": length(response) or length(prompt)');
    const field = parser.next();
    if (field.value !== "response" && field.value !== "prompt")
      throw parser.problem("should be response or prompt", field);
    if (!parser.accept(")")) throw parser.problem('should be ")"');
    return `length(${columns[field.value] ?? ""})`;
  }
}
