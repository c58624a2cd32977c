/** Keys that a class declares, with those of its bases, and below its fields those of their classes. */
import { annotationOf } from "../../../text/python/annotation.ts";
import { evaluated, type PythonExpression } from "../../../text/python/expression.ts";
import type { PythonClass, PythonField } from "../../../text/python/classes.ts";
import type { KeyFact } from "../../tables/table.ts";
import { shortened } from "../types.ts";
import { argumentsIn, wordsOf, type FieldWords } from "./field.ts";
import { nullable, oneType, shapeOf, type Shape } from "./shape.ts";
import type { Declared, Module, Sources } from "./sources.ts";

export type Facts = Map<string, KeyFact>;

export interface Walk {
  readonly sources: Sources;
  /** The longest help; 0 for none. */
  readonly help: number;
}

/** @returns by dotted key; the empty key stands for the class itself, where it takes keys that it does not declare */
export function classFacts(declared: Declared, walk: Walk, above: readonly PythonClass[] = []): Facts {
  const { module, class: own } = declared;
  const facts: Facts = new Map();
  if (own === undefined || above.includes(own)) return facts;
  const within = [...above, own];
  // The first of the bases wins.
  for (const base of own.bases.toReversed()) {
    const found = walk.sources.lookup(module, base);
    if (found !== undefined)
      for (const [key, fact] of classFacts(found, walk, within)) replace(facts, key, fact);
  }
  const told = argumentsIn(own.doc);
  for (const field of own.fields) addField(facts, field, { module, told, own, walk, within });
  const extra = extraOf([own, ...above.toReversed()]);
  if (extra === "allow") facts.set("", { type: "dict", open: true });
  else if (extra !== undefined) facts.delete("");
  return facts;
}

interface Place {
  readonly module: Module;
  readonly told: ReadonlyMap<string, string>;
  readonly own: PythonClass;
  readonly walk: Walk;
  readonly within: readonly PythonClass[];
}

/** A field that a class declares again takes the place of all that the base's had. */
function replace(facts: Facts, key: string, fact: KeyFact): void {
  if (!key.includes(".")) dropBelow(facts, key);
  facts.set(key, fact);
}

function dropBelow(facts: Facts, key: string): void {
  for (const other of facts.keys()) if (other.startsWith(`${key}.`)) facts.delete(other);
}

function addField(facts: Facts, field: PythonField, place: Place): void {
  const { module, own, walk } = place;
  const annotation = annotationOf(field.annotated);
  if (
    field.name === "model_config" ||
    (annotation.kind === "name" && /(^|\.)ClassVar$/.test(annotation.name))
  )
    return;
  // Python's own: a model hides such names. A dictionary has whatever it says.
  if (field.name.startsWith("_") && !isTypedDict(own)) return;
  const shape = shapeOf(annotation, module, walk.sources);
  const words = wordsOf(field, shape.notes, module, walk.sources);
  if (words === undefined) {
    facts.delete(field.name);
    return;
  }
  const below = shape.classes.map((one) => classFacts(one, walk, place.within));
  const open = below.some((facts) => facts.has("")) || shape.classes.some((one) => isOpaque(one, place));
  const fact = factOf(shape, words, helpFor(field.name, words, place));
  const section = sectionFacts(below, words);
  for (const name of words.names) {
    replace(facts, name, open ? { ...fact, open: true } : fact);
    for (const [key, one] of section) facts.set(`${name}.${key}`, one);
  }
}

const isTypedDict = ({ bases, fields }: PythonClass): boolean =>
  bases.some((base) => /(^|\.)TypedDict$/.test(base)) ||
  fields.some(({ annotation }) => /\bNotRequired\b/.test(annotation));

const helpFor = (name: string, words: FieldWords, { told, walk }: Place): string | undefined =>
  walk.help === 0 ? undefined : shortened(words.help ?? told.get(name), walk.help);

function factOf(shape: Shape, words: FieldWords, help: string | undefined): KeyFact {
  const choices = shape.choices ?? words.choices;
  return {
    type: words.default === null ? nullable(shape.type) : shape.type,
    ...(words.default === undefined ? {} : { default: words.default }),
    ...(choices === undefined ? {} : { choices }),
    ...(shape.of === undefined ? {} : { of: shape.of }),
    ...(shape.open === undefined ? {} : { open: true }),
    ...(help === undefined ? {} : { help }),
  };
}

/** What a class takes is not known if it holds itself, where it is cut, or has no fields that are declared. */
const isOpaque = (one: Declared, { walk, within }: Place): boolean =>
  one.class !== undefined && (within.includes(one.class) || !isConfig(one, walk.sources, 0));

/** Other classes are values of their own, such as a `torch.dtype`. */
function isConfig({ module, class: own }: Declared, sources: Sources, depth: number): boolean {
  if (own === undefined || depth > 12) return false;
  if (own.fields.length > 0 || own.bases.some((base) => /(^|\.)(TypedDict|Base\w+)$/.test(base))) return true;
  return own.bases.some((base) => {
    const above = base === own.name ? undefined : sources.lookup(module, base);
    return above !== undefined && isConfig(above, sources, depth + 1);
  });
}

/** What any of the classes takes. */
function sectionFacts(below: readonly Facts[], words: FieldWords): Facts {
  const facts: Facts = new Map();
  for (const section of below) mergeInto(facts, section);
  facts.delete("");
  for (const [name, value] of words.below) {
    const fact = facts.get(name);
    if (fact === undefined) continue;
    const { default: _default, ...rest } = fact;
    facts.set(name, value === undefined ? rest : { ...rest, default: value });
  }
  return facts;
}

/** Adds what another class has: of a key that both have, what is true in either. */
export function mergeInto(facts: Facts, other: Facts): void {
  for (const [key, fact] of other) {
    const known = facts.get(key);
    facts.set(key, known === undefined ? fact : either(known, fact));
  }
}

function either(a: KeyFact, b: KeyFact): KeyFact {
  const bare = (type: KeyFact["type"]): KeyFact["type"] => type.replace(/\?$/, "") as KeyFact["type"];
  const type = oneType([...new Set([bare(a.type), bare(b.type)])]);
  const choices =
    a.choices === undefined || b.choices === undefined
      ? undefined
      : [...new Set([...a.choices, ...b.choices])];
  const help = a.help ?? b.help;
  return {
    type: a.type.endsWith("?") || b.type.endsWith("?") ? nullable(type) : type,
    ...(a.default !== undefined && JSON.stringify(a.default) === JSON.stringify(b.default)
      ? { default: a.default }
      : {}),
    ...(choices === undefined ? {} : { choices }),
    ...(a.of !== undefined && a.of === b.of ? { of: a.of } : {}),
    ...(a.open === true || b.open === true ? { open: true } : {}),
    ...(help === undefined ? {} : { help }),
  };
}

/** pydantic's `extra`. A typed dictionary takes what the model that holds it takes. */
function extraOf(within: readonly PythonClass[]): string | undefined {
  const own = within.find((one) => !isTypedDict(one));
  if (own === undefined) return undefined;
  const { keywords, assigned, fields } = own;
  const config = assigned.get("model_config") ?? fields.find(({ name }) => name === "model_config")?.written;
  const written = keywords.get("extra") ?? (config === undefined ? undefined : entryOf(config, "extra"));
  const value = evaluated(written);
  return typeof value === "string" ? value : undefined;
}

function entryOf(config: PythonExpression, key: string): PythonExpression | undefined {
  if (config.kind === "call") return config.keywords.find(({ name }) => name === key)?.value;
  if (config.kind !== "dict") return undefined;
  return config.entries.find((one) => evaluated(one.key) === key)?.value;
}
