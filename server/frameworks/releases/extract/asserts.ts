/** Values that a data class allows its fields: the asserts and refusals at the top level of its `__post_init__`. */
import type { Json } from "../../../../shared/lib/json.ts";
import { evaluated, ExpressionReader } from "../../text/python/expression.ts";
import { tokensOf } from "../../../lib/python/tokens.ts";

export interface Checks {
  readonly asserted: ReadonlyMap<string, readonly Json[]>;
  readonly callsSuper: boolean;
}

const inTurn = /^class (\w+)[^\n]*\n([\s\S]*?)(?=^\S|$(?![\s\S]))/gm;
const method = /^ {4}def __post_init__\([^\n]*\n((?: {8}.*\n|[ \t]*\n| {4}\).*\n)*)/m;
const list = String.raw`([[({][^\])}]*[\])}]|[A-Za-z_]\w*|"[^"\n]*")`;
/** Also below `if self.field is not None:`, which only checks whether there is a value. */
const asserts = new RegExp(
  String.raw`^ {8}(?:if self\.(\w+)(?: is not None)?:\n {12})?assert self\.(\w+) (in|==) ${list}`,
  "gm",
);
const refusals = new RegExp(String.raw`^ {8}if self\.(\w+) not in ${list}:\s*\n\s+raise `, "gm");

export function checksIn(source: string): Map<string, Checks> {
  const found = new Map<string, Checks>();
  for (const [, name = "", text = ""] of source.matchAll(inTurn)) {
    const body = method.exec(text)?.[1];
    if (body === undefined) continue;
    const known = (written: string): readonly Json[] | undefined => listed(written, body, source);
    const asserted = new Map<string, readonly Json[]>();
    const add = (field: string, choices: readonly Json[] | undefined): void => {
      if (choices !== undefined && !returnsBefore(body, field)) asserted.set(field, choices);
    };
    for (const [, gate, field = "", sign, written = ""] of body.matchAll(asserts))
      if (gate === undefined || gate === field)
        add(field, sign === "==" && !written.startsWith('"') ? undefined : known(written));
    for (const [, field = "", written = ""] of body.matchAll(refusals)) add(field, known(written));
    found.set(name, { asserted, callsSuper: body.includes("super().__post_init__") });
  }
  return found;
}

/** What comes after a `return` is not always reached. */
const returnsBefore = (body: string, field: string): boolean => {
  const at = /^ {12}return\s*$/m.exec(body)?.index;
  return at !== undefined && at < body.indexOf(`self.${field} `);
};

/** A literal list, or that of a name in the method or the module. */
function listed(written: string, body: string, source: string): readonly Json[] | undefined {
  const value = valueOf(written);
  if (value !== undefined) return value;
  if (!/^\w+$/.test(written)) return undefined;
  const assigned = new RegExp(String.raw`^\s*${written}(?::[^=\n]*)? = ([[({][^\])}]*[\])}])`, "m");
  return valueOf((assigned.exec(body) ?? assigned.exec(source))?.[1] ?? "");
}

function valueOf(text: string): readonly Json[] | undefined {
  const plain = text.startsWith("{") ? `[${text.slice(1, -1)}]` : text;
  const value = evaluated(new ExpressionReader(tokensOf(plain), 1).expression());
  if (typeof value === "string") return [value];
  return Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === "string")
    ? value
    : undefined;
}
