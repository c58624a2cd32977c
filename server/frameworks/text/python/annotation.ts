/** Python's annotations as trees: `Annotated[int | None, Field(ge=1)]`. */
import type { Json } from "../../../../shared/lib/json.ts";
import { ExpressionReader, type PythonExpression } from "./expression.ts";
import { tokensOf, type PythonToken } from "../../../lib/python/tokens.ts";

export type PythonAnnotation =
  /** Dotted; `args` are those in its square brackets. */
  | { readonly kind: "name"; readonly name: string; readonly args: readonly PythonAnnotation[] }
  | { readonly kind: "union"; readonly members: readonly PythonAnnotation[] }
  | { readonly kind: "value"; readonly value: Json }
  /** `Field(…)` within `Annotated`. */
  | { readonly kind: "call"; readonly call: PythonExpression }
  | { readonly kind: "unknown" };

export const annotationOf = (tokens: readonly PythonToken[]): PythonAnnotation =>
  new AnnotationReader(tokens).union(false);

const constants: Readonly<Record<string, Json>> = { None: null, True: true, False: false };

class AnnotationReader {
  private readonly tokens: readonly PythonToken[];
  private at = 0;

  constructor(tokens: readonly PythonToken[]) {
    this.tokens = tokens.filter(({ kind }) => kind !== "line");
  }

  private is(text: string): boolean {
    const token = this.tokens[this.at];
    return token?.kind === "operator" && token.text === text;
  }

  /** @param literal whether strings are values here, not annotations that are written as text */
  union(literal: boolean): PythonAnnotation {
    const members = [this.one(literal)];
    while (this.is("|")) {
      this.at += 1;
      members.push(this.one(literal));
    }
    return members.length === 1 ? members[0]! : { kind: "union", members };
  }

  private one(literal: boolean): PythonAnnotation {
    const token = this.tokens[this.at];
    if (token === undefined) return { kind: "unknown" };
    if (token.kind === "text") {
      this.at += 1;
      return literal ? { kind: "value", value: token.text } : annotationOf(tokensOf(token.text));
    }
    if (token.kind === "name") return this.name(token.text);
    if (token.kind === "number" || this.is("-")) return this.number();
    return this.brackets();
  }

  private number(): PythonAnnotation {
    const sign = this.is("-") ? -1 : 1;
    if (sign < 0) this.at += 1;
    const value = Number(this.tokens[this.at++]?.text);
    return Number.isNaN(value) ? { kind: "unknown" } : { kind: "value", value: sign * value };
  }

  private name(first: string): PythonAnnotation {
    if (Object.hasOwn(constants, first)) {
      this.at += 1;
      return { kind: "value", value: constants[first]! };
    }
    const from = this.at;
    this.at += 1;
    let name = first;
    while (this.is(".") && this.tokens[this.at + 1]?.kind === "name") {
      name += `.${this.tokens[this.at + 1]!.text}`;
      this.at += 2;
    }
    if (this.is("(")) return this.call(from);
    if (!this.is("[")) return { kind: "name", name, args: [] };
    this.at += 1;
    return { kind: "name", name, args: this.items("]", name.split(".").at(-1) ?? name) };
  }

  private items(close: string, owner: string): PythonAnnotation[] {
    const args: PythonAnnotation[] = [];
    while (this.at < this.tokens.length && !this.is(close)) {
      const before = this.at;
      // `Annotated[str, "what it is for"]`: the rest describes the first.
      args.push(this.union(owner === "Literal" || (isAnnotated(owner) && args.length > 0)));
      while (this.at < this.tokens.length && !this.is(",") && !this.is(close)) this.at += 1;
      if (this.is(",")) this.at += 1;
      if (this.at === before) break;
    }
    this.at += 1;
    return args;
  }

  private call(from: number): PythonAnnotation {
    const reader = new ExpressionReader(this.tokens, from);
    const call = reader.expression();
    this.at = Math.max(reader.at, this.at + 1);
    return { kind: "call", call };
  }

  /** `(A | B)`, and the list of what a callable takes. */
  private brackets(): PythonAnnotation {
    const isGroup = this.is("(");
    this.at += 1;
    if (!isGroup) return { kind: "unknown" };
    const inner = this.union(false);
    if (this.is(")")) this.at += 1;
    return inner;
  }
}

/** `A` is what SGLang calls it. */
export const isAnnotated = (name: string): boolean => name === "Annotated" || name === "A";
