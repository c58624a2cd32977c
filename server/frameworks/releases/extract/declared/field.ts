/** What a field says of its key besides the type: default, other names, choices and help. */
import type { Json } from "../../../../../shared/lib/json.ts";
import { evaluated, type PythonExpression } from "../../../text/python/expression.ts";
import type { PythonField } from "../../../text/python/classes.ts";
import { isObject } from "../../../text/values.ts";
import { membersOf } from "./shape.ts";
import type { Module, Sources } from "./sources.ts";

export interface FieldWords {
  /** The names that a configuration may use. */
  readonly names: readonly string[];
  readonly default?: Json;
  readonly choices?: readonly Json[];
  readonly help?: string;
  /** `Section(key=3)`: defaults of keys below; undefined where the value cannot be known. */
  readonly below: ReadonlyMap<string, Json | undefined>;
}

/** Undefined for a field that no configuration sets. */
export function wordsOf(
  field: PythonField,
  notes: readonly (string | PythonExpression)[],
  module: Module,
  sources: Sources,
): FieldWords | undefined {
  const call = field.written?.kind === "call" ? field.written : undefined;
  const isField = call !== undefined && /(^|\.)(field|Field|attrib|ib)$/.test(call.callee);
  const calls = [...(isField ? [call] : []), ...notes.flatMap(calling)];
  const keyword = (name: string): PythonExpression | undefined =>
    calls
      .map((one) => one.keywords.find((given) => given.name === name)?.value)
      .find((value) => value !== undefined);
  const valueOf = (written: PythonExpression | undefined): Json | undefined => {
    const value = evaluated(written, module.constants);
    return value === undefined ? memberNamed(written, module, sources) : value;
  };
  if (valueOf(keyword("init")) === false) return undefined;
  const made =
    isField && field.default === undefined
      ? valueOf(keyword("default") ?? call.positional[0])
      : isField
        ? field.default
        : valueOf(field.written);
  const choices =
    chosen(valueOf(keyword("choices"))) ?? chosen(entry(keyword("metadata"), "choices", valueOf));
  const help = helpOf(field, notes, keyword, valueOf);
  return {
    names: namesOf(field.name, keyword),
    below:
      call !== undefined && !isField
        ? new Map(call.keywords.map(({ name, value }) => [name, valueOf(value)]))
        : new Map(),
    ...(made === undefined ? {} : { default: made }),
    ...(choices === undefined ? {} : { choices }),
    ...(help === undefined ? {} : { help }),
  };
}

type Call = PythonExpression & { kind: "call" };
const calling = (note: string | PythonExpression): Call[] =>
  typeof note !== "string" && note.kind === "call" ? [note] : [];

/** `Loss.dapo` of an enumeration is its value. */
function memberNamed(
  written: PythonExpression | undefined,
  module: Module,
  sources: Sources,
): Json | undefined {
  const [, owner, member] =
    /^(.+)\.(\w+)$/.exec(written?.kind === "name" ? written.name.replace(/\.value$/, "") : "") ?? [];
  if (owner === undefined || member === undefined) return undefined;
  const found = sources.lookup(module, owner);
  return found === undefined ? undefined : membersOf(found, sources)?.get(member);
}

const chosen = (value: Json | undefined): readonly Json[] | undefined =>
  Array.isArray(value) && value.length > 0 ? value : undefined;

/** One entry of a dictionary, whatever the others are. */
function entry(
  written: PythonExpression | undefined,
  key: string,
  valueOf: (written: PythonExpression | undefined) => Json | undefined,
): Json | undefined {
  if (written?.kind !== "dict") return undefined;
  return valueOf(written.entries.find((one) => valueOf(one.key) === key)?.value);
}

function helpOf(
  field: PythonField,
  notes: readonly (string | PythonExpression)[],
  keyword: (name: string) => PythonExpression | undefined,
  valueOf: (written: PythonExpression | undefined) => Json | undefined,
): string | undefined {
  const extra = valueOf(keyword("json_schema_extra"));
  return [
    entry(keyword("metadata"), "help", valueOf),
    valueOf(keyword("description")),
    valueOf(keyword("help")),
    isObject(extra) ? extra["description"] : undefined,
    notes.find((note) => typeof note === "string"),
    field.doc,
  ].find((text): text is string => typeof text === "string" && text !== "");
}

/** pydantic takes an alias in a field's place; which of them a model takes besides its name is up to it. */
function namesOf(name: string, keyword: (name: string) => PythonExpression | undefined): string[] {
  const aliases = ["alias", "validation_alias"].flatMap((word) => {
    const written = keyword(word);
    const given = written?.kind === "call" ? written.positional : [written];
    return given.flatMap((one) =>
      one?.kind === "value" && typeof one.value === "string" ? [one.value] : [],
    );
  });
  return [...new Set([name, ...aliases])];
}

/** `name (type): what it is for` in a class's documentation. */
export function argumentsIn(doc: string | undefined): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  let [name, margin] = ["", 0];
  for (const line of doc?.split("\n") ?? []) {
    const [, indent = "", word = "", text = ""] =
      /^(\s+)(\w+)\s*(?:\([^)]*(?:\([^)]*\)[^)]*)*\))?:\s*(.*)$/.exec(line) ?? [];
    if (/^(Args|Arguments|Attributes|Parameters)$/.test(word) && text === "") name = "";
    else if (word !== "" && (name === "" || indent.length <= margin)) {
      [name, margin] = [word, indent.length];
      found.set(name, text);
    } else if (name !== "") found.set(name, `${found.get(name) ?? ""} ${line.trim()}`);
  }
  return found;
}
