/** Fields of Python's data classes and arguments of its parsers, read from the source. */
import type { Json } from "../../../../shared/lib/json.ts";
import { evaluated, ExpressionReader, type PythonExpression } from "./expression.ts";
import { unrolled } from "./loops.ts";
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
}
export interface PythonClass {
  readonly name: string;
  readonly bases: readonly string[];
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

function constantsOf(tokens: readonly PythonToken[]): Map<string, PythonExpression> {
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
    const body = tokens.findIndex(({ kind }, i) => i > at && kind === "line");
    const head = tokens.slice(at + 2, body < 0 ? tokens.length : body);
    const bases = head
      .filter(({ kind, text }) => kind === "name" && text !== "metaclass")
      .map(({ text }) => text);
    return { name: tokens[at + 1]?.text ?? "", bases, fields: body < 0 ? [] : this.fields(body) };
  }

  private fields(body: number): PythonField[] {
    const { tokens } = this;
    const level = tokens[body]!.indent;
    const found: PythonField[] = [];
    for (let i = body; i < tokens.length; i++) {
      const line = tokens[i]!;
      if (line.kind !== "line") continue;
      if (line.indent < level) break;
      const [name, colon] = [tokens[i + 1], tokens[i + 2]];
      if (line.indent === level && name?.kind === "name" && colon?.text === ":")
        found.push(this.field(name.text, i + 3));
    }
    return found;
  }

  private field(name: string, from: number): PythonField {
    const { tokens } = this;
    const end = tokens.findIndex(({ kind, text }, i) => i >= from && (kind === "line" || text === "="));
    const stop = end < 0 ? tokens.length : end;
    const annotation = tokens
      .slice(from, stop)
      .map(({ kind, text }) => (kind === "text" ? `"${text}"` : text))
      .join(" ");
    if (tokens[stop]?.text !== "=") return { name, annotation, default: undefined, help: undefined };
    const expression = new ExpressionReader(tokens, stop + 1).expression();
    return { name, annotation, ...this.given(expression, stop + 1) };
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

export interface ParserArgument {
  /** Without `--`. */
  readonly names: readonly string[];
  readonly keywords: ReadonlyMap<string, PythonExpression>;
  value(keyword: string): Json | undefined;
}

/** Calls of `add_argument`, in order. */
export function argumentsOf(source: string): ParserArgument[] {
  const tokens = tokensOf(unrolled(source));
  const names = constantsOf(tokens);
  return tokens.flatMap((token, i) => {
    if (token.text !== "add_argument" || tokens[i + 1]?.text !== "(") return [];
    const call = new ExpressionReader(tokens, i).expression();
    if (call.kind !== "call") return [];
    const keywords = new Map(call.keywords.map(({ name, value }) => [name, value]));
    const flags = call.positional
      .map((one) => evaluated(one, names))
      .flatMap((one) => (typeof one === "string" && one.startsWith("--") ? [one.slice(2)] : []));
    return [{ names: flags, keywords, value: (keyword: string) => evaluated(keywords.get(keyword), names) }];
  });
}
