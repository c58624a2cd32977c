/** The statements of a Python file, and which of them read a name. Nothing is executed. */
import type { PythonToken } from "../../../lib/python/tokens.ts";
import { ExpressionReader, type PythonExpression } from "./expression.ts";

export interface Statement {
  readonly tokens: readonly PythonToken[];
  readonly indent: number;
}

/** `name = value`, of one name. */
export interface Assignment {
  readonly name: PythonToken;
  readonly value: PythonExpression;
  readonly statement: Statement;
}

const compound = /^(if|elif|else|for|while|with|try|except|finally|def|class|async|match|case)$/;

/** The head of a compound statement (`if …`) is one of its own. */
export function statementsOf(tokens: readonly PythonToken[]): Statement[] {
  const found: Statement[] = [];
  let [own, indent, depth]: [PythonToken[], number, number] = [[], 0, 0];
  const close = (): void => {
    if (own.length > 0) found.push({ tokens: own, indent });
    own = [];
  };
  for (const token of tokens) {
    const ends = token.kind === "line" || (depth === 0 && token.kind === "operator" && token.text === ";");
    if (ends) close();
    else own.push(token);
    if (token.kind === "line") [indent, depth] = [token.indent, 0];
    if (token.kind !== "operator") continue;
    if ("([{".includes(token.text)) depth += 1;
    else if (")]}".includes(token.text)) depth = Math.max(0, depth - 1);
    else if (token.text === ":" && depth === 0 && compound.test(own[0]?.text ?? "")) close();
  }
  close();
  return found;
}

/** How many arguments a bracket holds. */
function argumentsAt(tokens: readonly PythonToken[], open: number): number {
  const reader = new ExpressionReader(tokens, open + 1);
  let given = 0;
  for (; reader.at < tokens.length && tokens[reader.at]?.text !== ")"; given++) {
    reader.expression();
    if (tokens[reader.at]?.text !== ",") return given + 1;
    reader.at += 1;
  }
  return given;
}

const reflective = /^(globals|locals|vars|exec|eval)$/;

export class Statements {
  readonly all: readonly Statement[];

  constructor(private readonly tokens: readonly PythonToken[]) {
    this.all = statementsOf(tokens);
  }

  /** Whether a call may read a name that is written nowhere. Programs that get names of their own (`exec(x, {})`) do not. */
  get readUnseen(): boolean {
    return this.tokens.some((token, i) => {
      const called =
        token.kind === "name" && this.tokens[i + 1]?.text === "(" && !isAttribute(this.tokens, i);
      if (!called || !reflective.test(token.text)) return false;
      const next = this.tokens.slice(i + 3, i + 6);
      const isKnown = next[0]?.text === "[" && next[1]?.kind === "text" && next[2]?.text === "]";
      if (token.text === "globals" || token.text === "locals")
        return !isKnown && this.tokens[i - 1]?.text !== "in";
      const given = argumentsAt(this.tokens, i + 1);
      return token.text === "vars" ? given === 0 : given === 1;
    });
  }

  /** What names are given before an offset, except in the body of a class, whose names are read as attributes. */
  assignments(before: number): Assignment[] {
    return this.all.flatMap((statement) => {
      const [name] = statement.tokens;
      const equals = equalsOf(statement);
      const plain = name?.kind === "name" && (equals === 1 || statement.tokens[1]?.text === ":");
      if (!plain || equals < 0 || name.start >= before || this.scope(statement) === "class") return [];
      return [{ name, statement, value: new ExpressionReader(statement.tokens, equals + 1).expression() }];
    });
  }

  /** Whether anything but the name's own making and printing reads it. */
  reads(name: string): boolean {
    return this.readers(name).some((statement) => !isShown(statement));
  }

  isPrinted(name: string): boolean {
    return this.readers(name).some(isShown);
  }

  private readers(name: string): Statement[] {
    return this.all.filter((statement) => !isOwn(statement, name) && readsName(statement, name));
  }

  /** The word that opens the block around a statement: `def`, `class` or none. */
  scope(statement: Statement): "def" | "class" | undefined {
    const word = this.block(statement)?.tokens[0]?.text;
    return word === undefined ? undefined : word === "class" ? "class" : "def";
  }

  /** The function or class that a statement is in, or another block. */
  block({ tokens, indent }: Statement, openers = /^(def|class|async)$/): Statement | undefined {
    const at = tokens[0]?.start ?? 0;
    let inner = indent;
    return this.all.findLast((other) => {
      if ((other.tokens[0]?.start ?? 0) >= at || other.indent >= inner) return false;
      inner = other.indent;
      return openers.test(other.tokens[0]?.text ?? "");
    });
  }

  /** The statement that an offset is in. */
  at(offset: number): Statement | undefined {
    return this.all.findLast(({ tokens }) => (tokens[0]?.start ?? 0) <= offset);
  }
}

/** The index of the `=` that assigns; -1 where none does. */
export function equalsOf({ tokens }: Statement): number {
  let depth = 0;
  return tokens.findIndex(({ kind, text }) => {
    if (kind !== "operator") return false;
    if ("([{".includes(text)) depth += 1;
    else if (")]}".includes(text)) depth -= 1;
    return depth === 0 && text === "=";
  });
}

const isShown = ({ tokens: [first, next] }: Statement): boolean =>
  (/^p?print$/.test(first?.text ?? "") && next?.text === "(") ||
  (/^log(ger|ging)?$/.test(first?.text ?? "") && next?.text === ".");

const words = new Set(["if", "elif", "is", "not", "and", "or", "None", "True", "False"]);

/** `name = …`, `name.pad_token = …`, `name["train"] = …`, and `if name.pad_token is None`. */
function isOwn(statement: Statement, name: string): boolean {
  const { tokens } = statement;
  const [first] = tokens;
  const equals = equalsOf(statement);
  if (first?.text === name && equals > 0 && !tokens.slice(0, equals).some(({ text }) => text === ","))
    return true;
  return (
    (first?.text === "if" || first?.text === "elif") &&
    tokens.every(
      ({ kind, text }, i) =>
        (kind !== "name" && text !== "(") || text === name || words.has(text) || isAttribute(tokens, i),
    )
  );
}

const isAttribute = (tokens: readonly PythonToken[], i: number): boolean => tokens[i - 1]?.text === ".";

/** Strings count too: `getattr(x, "name")`, `f"{name}"`. */
function readsName(statement: Statement, name: string): boolean {
  const { tokens } = statement;
  const equals = equalsOf(statement);
  return tokens.some(({ kind, text, start }, i) => {
    if (kind === "text") return text === name;
    if (kind === "unknown") return new RegExp(`(?<!\\w)${name}(?!\\w)`).test(text);
    if (kind !== "name" || text !== name || isAttribute(tokens, i)) return false;
    const keyword = i > equals && tokens[i + 1]?.text === "=" && /^[(,]$/.test(tokens[i - 1]?.text ?? "");
    const target = i < equals && isTarget(tokens.slice(0, equals));
    const defined = tokens[i - 1]?.text === "def" && start > 0;
    return !keyword && !target && !defined;
  });
}

/** `model, tokenizer` before an `=`. */
const isTarget = (tokens: readonly PythonToken[]): boolean =>
  tokens.every(({ kind, text }) => kind === "name" || text === ",");
