/** Fields of Python's data classes and arguments of its parsers, read from the source. */
import type { Json } from "../../../../shared/lib/json.ts";
import { evaluated, ExpressionReader, type PythonExpression } from "./expression.ts";
import { unrolled } from "./loops.ts";
import { partsOf } from "../../../lib/python/parts.ts";
import { tokensOf, type PythonToken } from "../../../lib/python/tokens.ts";

export interface PythonField {
  readonly name: string;
  /** As written: `int | None`. */
  readonly annotation: string;
  /** undefined if there is none, or it cannot be known. */
  readonly default: Json | undefined;
  readonly help: string | undefined;
  /** `metadata={"choices": […]}`, which Transformers' parser hands to argparse. */
  readonly choices?: readonly string[];
  /** The annotation's tokens: their strings may hold quotes. */
  readonly annotated: readonly PythonToken[];
  /** What follows `=`. */
  readonly written?: PythonExpression;
  /** The string below the field, which documents it. */
  readonly doc?: string;
}
export interface PythonClass {
  readonly name: string;
  /** Dotted, without what is in their brackets. */
  readonly bases: readonly string[];
  /** `extra="allow"` in the class's head. */
  readonly keywords: ReadonlyMap<string, PythonExpression>;
  /** `NAME = value` in its body: members of an enumeration, `model_config`. */
  readonly assigned: ReadonlyMap<string, PythonExpression>;
  readonly doc?: string;
  readonly fields: readonly PythonField[];
  /** Values that `__post_init__` allows its fields; absent where the class has no such method. */
  readonly asserted?: ReadonlyMap<string, readonly Json[]>;
  readonly callsSuper?: boolean;
}

/** Classes at the left margin. Statements inside methods are not fields. */
export function classesOf(source: string): PythonClass[] {
  const tokens = tokensOf(source);
  const names = constantsOf(tokens);
  return tokens.flatMap((token, i) => {
    const starts = token.text === "class" && tokens[i - 1]?.kind === "line" && tokens[i - 1]?.indent === 0;
    return starts ? [new ClassReader(tokens, i, names).read()] : [];
  });
}

/** Names that are assigned anywhere in a file; the last value of each. */
export function constantsOf(tokens: readonly PythonToken[]): Map<string, PythonExpression> {
  return new Map(
    tokens.flatMap((token, i) =>
      token.kind === "name" && tokens[i - 1]?.kind === "line" && tokens[i + 1]?.text === "="
        ? [[token.text, new ExpressionReader(tokens, i + 2).expression()] as const]
        : [],
    ),
  );
}

class ClassReader {
  constructor(
    private readonly tokens: readonly PythonToken[],
    private readonly at: number,
    private readonly names: ReadonlyMap<string, PythonExpression>,
  ) {}

  read(): PythonClass {
    const { tokens, at } = this;
    const found = tokens.findIndex(({ kind }, i) => i > at && kind === "line");
    const body = found < 0 ? tokens.length : found;
    const doc = this.textAt(body);
    return {
      name: tokens[at + 1]?.text ?? "",
      ...this.head(),
      ...this.statements(body),
      ...(doc === undefined ? {} : { doc }),
    };
  }

  /** What is in the brackets after the name. */
  private head(): Pick<PythonClass, "bases" | "keywords"> {
    const { tokens, at } = this;
    if (tokens[at + 2]?.text !== "(") return { bases: [], keywords: new Map() };
    const parts = partsOf(tokens, at + 2).parts.filter(({ length }) => length > 0);
    const isKeyword = (part: readonly PythonToken[]): boolean => part[1]?.text === "=";
    return {
      bases: parts.filter((part) => !isKeyword(part)).map(dotted),
      keywords: new Map(
        parts
          .filter(isKeyword)
          .map(([name, , ...value]) => [name?.text ?? "", new ExpressionReader(value).expression()]),
      ),
    };
  }

  private statements(body: number): Pick<PythonClass, "fields" | "assigned"> {
    const { tokens } = this;
    const level = tokens[body]?.indent ?? 0;
    const fields: PythonField[] = [];
    const assigned = new Map<string, PythonExpression>();
    for (let i = body; i < tokens.length; i++) {
      const line = tokens[i]!;
      if (line.kind !== "line") continue;
      if (line.indent < level) break;
      const [name, next] = [tokens[i + 1], tokens[i + 2]];
      if (line.indent !== level || name?.kind !== "name") continue;
      if (next?.text === ":") fields.push(this.field(name.text, i + 3));
      if (next?.text === "=") assigned.set(name.text, new ExpressionReader(tokens, i + 3).expression());
    }
    return { fields, assigned };
  }

  /** The text of a statement that is a string alone. */
  private textAt(line: number): string | undefined {
    const [string, after] = [this.tokens[line + 1], this.tokens[line + 2]];
    return string?.kind === "text" && (after === undefined || after.kind === "line")
      ? string.text
      : undefined;
  }

  private field(name: string, from: number): PythonField {
    const { tokens } = this;
    const stop = annotationEnd(tokens, from);
    const annotated = tokens.slice(from, stop);
    const annotation = annotated.map(({ kind, text }) => (kind === "text" ? `"${text}"` : text)).join(" ");
    const next = tokens.findIndex(({ kind }, i) => i >= stop && kind === "line");
    const doc = next < 0 ? undefined : this.textAt(next);
    const told = { name, annotation, annotated, ...(doc === undefined ? {} : { doc }) };
    if (tokens[stop]?.text !== "=") return { ...told, default: undefined, help: undefined };
    const written = new ExpressionReader(tokens, stop + 1).expression();
    return { ...told, written, ...this.given(written, stop + 1) };
  }

  /** `= 3` and `= field(default=3, metadata={"help": …})`. */
  private given(expression: PythonExpression, at: number): Pick<PythonField, "default" | "help" | "choices"> {
    if (expression.kind !== "call") return { default: evaluated(expression, this.names), help: undefined };
    const keyword = (name: string): PythonExpression | undefined =>
      expression.keywords.find((one) => one.name === name)?.value;
    const metadata = evaluated(keyword("metadata"), this.names);
    const help =
      typeof metadata === "object" && metadata !== null && "help" in metadata ? metadata.help : undefined;
    const written = evaluated(keyword("default"), this.names);
    const made = written === undefined ? this.factory(keyword("default_factory"), at) : written;
    const choices =
      typeof metadata === "object" && metadata !== null && "choices" in metadata
        ? metadata.choices
        : undefined;
    return {
      default: made,
      help: typeof help === "string" ? help : undefined,
      ...(Array.isArray(choices) ? { choices: choices.map(String) } : {}),
    };
  }

  /** `list`, `dict`, `lambda: [1, 2]`. */
  private factory(expression: PythonExpression | undefined, at: number): Json | undefined {
    if (expression?.kind === "name")
      return expression.name === "list" ? [] : expression.name === "dict" ? {} : undefined;
    if (expression?.kind !== "unknown") return undefined;
    const start = this.tokens.findIndex((token, i) => i >= at && token.start >= expression.start);
    const [word, colon] = [this.tokens[start], this.tokens[start + 1]];
    if (word?.text !== "lambda" || colon?.text !== ":") return undefined;
    return evaluated(new ExpressionReader(this.tokens, start + 2).expression(), this.names);
  }
}

/** Before the `=` of the field itself: its calls have keywords. */
function annotationEnd(tokens: readonly PythonToken[], from: number): number {
  let depth = 0;
  for (let i = from; i < tokens.length; i++) {
    const { kind, text } = tokens[i]!;
    if (kind === "line" || (kind === "operator" && text === "=" && depth === 0)) return i;
    if (kind !== "operator") continue;
    if ("([{".includes(text)) depth += 1;
    else if (")]}".includes(text)) depth -= 1;
  }
  return tokens.length;
}

/** `models.Base` of `models.Base[T]`. */
function dotted(part: readonly PythonToken[]): string {
  const end = part.findIndex(({ kind, text }) => kind !== "name" && text !== ".");
  return part
    .slice(0, end < 0 ? part.length : end)
    .map(({ text }) => text)
    .join("");
}

export interface ParserArgument {
  /** Without `--`. */
  readonly names: readonly string[];
  readonly keywords: ReadonlyMap<string, PythonExpression>;
  value(keyword: string): Json | undefined;
}

/**
 * Calls of `add_argument`, in order.
 * @param adders other functions that add an argument
 */
export function argumentsOf(source: string, adders: readonly string[] = []): ParserArgument[] {
  const tokens = tokensOf(unrolled(source));
  const names = constantsOf(tokens);
  return callsOf(tokens, ["add_argument", ...adders]).flatMap((call) => {
    const keywords = new Map(call.keywords.map(({ name, value }) => [name, value]));
    const flags = call.positional
      .map((one) => evaluated(one, names))
      .flatMap((one) => (typeof one === "string" && one.startsWith("--") ? [one.slice(2)] : []));
    return [{ names: flags, keywords, value: (keyword: string) => evaluated(keywords.get(keyword), names) }];
  });
}

/** Calls of functions and methods, by the last part of their names. */
export function callsOf(
  tokens: readonly PythonToken[],
  names: readonly string[],
): (PythonExpression & { readonly kind: "call" })[] {
  return tokens.flatMap((token, i) => {
    const isCalled = token.kind === "name" && names.includes(token.text) && tokens[i + 1]?.text === "(";
    if (!isCalled || tokens[i - 1]?.text === "def") return [];
    // Not what is called of its result: `Factory(Config).build(parser)`.
    const call = new ExpressionReader(tokens.slice(i, partsOf(tokens, i + 1).end + 1)).expression();
    return call.kind === "call" ? [call] : [];
  });
}
