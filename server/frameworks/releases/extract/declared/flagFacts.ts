/** Flags that a module's functions add to a parser, and those that they make of the fields of a class. */
import type { Json } from "../../../../../shared/lib/json.ts";
import { annotationOf } from "../../../text/python/annotation.ts";
import { argumentsOf, callsOf, type PythonClass } from "../../../text/python/classes.ts";
import { evaluated, type PythonExpression } from "../../../text/python/expression.ts";
import { withWord } from "../../../text/python/loops.ts";
import { isObject } from "../../../text/values.ts";
import { tokensOf } from "../../../../lib/python/tokens.ts";
import type { KeyFact } from "../../tables/table.ts";
import { factOfArgument, hasNegation } from "../flags.ts";
import { classFacts, type Facts, type Walk } from "./classFacts.ts";
import { shapeOf } from "./shape.ts";
import type { Declared, Module } from "./sources.ts";

type Call = PythonExpression & { readonly kind: "call" };

/** @param words of variables that are parts of the flags' names */
export function flagFacts(module: Module, walk: Walk, words: Readonly<Record<string, string>> = {}): Facts {
  const facts: Facts = new Map();
  const source = Object.entries(words).reduce(
    (text, [name, word]) => withWord(text, name, word).replace(/\bf(["']--)/g, "$1"),
    module.source,
  );
  const tokens = tokensOf(source);
  for (const call of callsOf(tokens, ["ArgumentGroupFactory"])) addFields(facts, call, 0, module, walk);
  for (const call of callsOf(tokens, ["add_cli_args_from_dataclass"]))
    addFields(facts, call, 1, module, walk);
  // `reset_arg` of slime adds a flag, or changes the default of one that is there.
  for (const argument of argumentsOf(source, ["reset_arg"]))
    for (const name of argument.names) {
      const fact = factOfArgument(argument, walk.help);
      facts.set(name, fact);
      if (hasNegation(argument)) facts.set(`no-${name}`, { type: "bool", default: false });
    }
  for (const [name, value] of defaultsIn(module)) setDefault(facts, name.replaceAll("_", "-"), value);
  return facts;
}

/** `parser.set_defaults(lr=1e-6)`. */
export const defaultsIn = (module: Module): readonly (readonly [string, Json | undefined])[] =>
  callsOf(tokensOf(module.source), ["set_defaults"]).flatMap((call) =>
    call.keywords.map(({ name, value }) => [name, evaluated(value, module.constants)] as const),
  );

export function setDefault(facts: Facts, key: string, value: Json | undefined): void {
  const fact = facts.get(key);
  if (fact === undefined) return;
  const { default: _default, ...rest } = fact;
  facts.set(key, value === undefined ? rest : { ...rest, default: value });
}

/** Of Megatron's factory and SGLang's function: the class is the argument at `at`. */
function addFields(facts: Facts, call: Call, at: number, module: Module, walk: Walk): void {
  const named = call.positional[at];
  const found = named?.kind === "name" ? walk.sources.lookup(module, named.name) : undefined;
  if (found === undefined) return;
  const left = evaluated(call.keywords.find(({ name }) => name === "exclude")?.value, module.constants);
  const without = new Set(Array.isArray(left) ? left : []);
  const own = fieldsOf(found, walk);
  for (const [key, fact] of classFacts(found, walk)) {
    const field = own.get(key);
    if (field === undefined || without.has(key) || field.noFlag) continue;
    for (const [name, one] of flagsOf(key, fact, field)) facts.set(name, one);
  }
}

interface FlagField {
  /** What the field itself says its flags are. */
  readonly names?: readonly string[];
  readonly aliases: readonly string[];
  readonly noFlag: boolean;
  /** Megatron names a switch that is on by what turns it off. */
  readonly negated: boolean;
}

function flagsOf(key: string, fact: KeyFact, { names, aliases, negated }: FlagField): [string, KeyFact][] {
  const dashed = key.replaceAll("_", "-");
  const { open: _open, ...flat } = fact;
  const { choices: _choices, ...free } = flat;
  // A default that no words of the list can write is one that nothing sets.
  const one: KeyFact = {
    ...(flat.type === "list" || flat.type === "list?"
      ? { ...flat, nargs: "+" }
      : flat.type === "any"
        ? free
        : flat),
  };
  if (names !== undefined) return [...names, ...aliases].map((name) => [name, one]);
  if (negated && one.type === "bool" && one.default === true)
    return [`no-${dashed}`, `disable-${dashed}`].map((name) => [name, one]);
  return [dashed, ...aliases].map((name) => [name, one]);
}

/** By name, of the class and those above it. */
function fieldsOf({ module, class: own }: Declared, walk: Walk): Map<string, FlagField> {
  const found = new Map<string, FlagField>();
  if (own === undefined) return found;
  for (const base of own.bases.toReversed()) {
    const above = base === own.name ? undefined : walk.sources.lookup(module, base);
    if (above !== undefined) for (const [name, field] of fieldsOf(above, walk)) found.set(name, field);
  }
  for (const field of own.fields) found.set(field.name, flagFieldOf(field, module, walk));
  return found;
}

function flagFieldOf(field: PythonClass["fields"][number], module: Module, walk: Walk): FlagField {
  const { notes } = shapeOf(annotationOf(field.annotated), module, walk.sources);
  const isNoted = notes.length > 0;
  const call = notes.find((note): note is Call => typeof note !== "string" && note.kind === "call");
  const valueOf = (name: string): Json | undefined =>
    evaluated(call?.keywords.find((one) => one.name === name)?.value, module.constants);
  const written = field.written?.kind === "call" ? field.written : undefined;
  const metadata = evaluated(
    written?.keywords.find(({ name }) => name === "metadata")?.value,
    module.constants,
  );
  const meta = isObject(metadata) ? metadata["argparse_meta"] : undefined;
  const names = isObject(meta) ? flagsIn(meta["arg_names"]) : [];
  const own = valueOf("cli_name");
  const given = typeof own === "string" ? flagsIn([own]) : names;
  return {
    ...(given.length === 0 ? {} : { names: given }),
    aliases: flagsIn(valueOf("aliases")),
    noFlag: valueOf("no_cli") === true,
    negated: !isNoted,
  };
}

const flagsIn = (value: Json | undefined): string[] =>
  Array.isArray(value)
    ? value.flatMap((flag) => (typeof flag === "string" && flag.startsWith("--") ? [flag.slice(2)] : []))
    : [];
