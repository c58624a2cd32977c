/** What an annotation allows: a kind of value, choices, and the classes whose fields are keys below. */
import type { Json } from "../../../../../shared/lib/json.ts";
import { annotationOf, isAnnotated, type PythonAnnotation } from "../../../text/python/annotation.ts";
import { evaluated, type PythonExpression } from "../../../text/python/expression.ts";
import type { KeyFact, KeyType } from "../../tables/table.ts";
import { typeOfAnnotation, typeOfValue } from "../types.ts";
import type { Declared, Module, Sources } from "./sources.ts";

export interface Shape extends Pick<KeyFact, "type" | "choices" | "of" | "open"> {
  readonly classes: readonly Declared[];
  /** What stands beside the type in `Annotated`. */
  readonly notes: readonly (string | PythonExpression)[];
}

type Atom =
  | { readonly kind: "null" }
  | { readonly kind: "choice"; readonly value: Json }
  | { readonly kind: "class"; readonly class: Declared }
  | { readonly kind: "plain"; readonly type: KeyType; readonly of?: "int" | "float"; readonly open?: true };

/** They say how a key is held, not what it holds. */
const wrappers = new Set([
  ...[
    "NotRequired",
    "Required",
    "ReadOnly",
    "Final",
    "InitVar",
    "SerializeAsAny",
    "SkipValidation",
    "Secret",
  ],
]);
const words: Readonly<Record<string, string>> = {
  ...{ Path: "str", PathLike: "str", FilePath: "str", DirectoryPath: "str", SecretStr: "str", AnyUrl: "str" },
  ...{ StrictStr: "str", StrictBool: "bool", StrictInt: "int", StrictFloat: "float", bytes: "str" },
  ...{ PositiveInt: "int", NonNegativeInt: "int", PositiveFloat: "float", NonNegativeFloat: "float" },
  ...{ set: "list", Set: "list", frozenset: "list", Iterable: "list", ListConfig: "list" },
  ...{
    Mapping: "dict",
    MutableMapping: "dict",
    OrderedDict: "dict",
    defaultdict: "dict",
    DictConfig: "dict",
  },
};

export function shapeOf(annotation: PythonAnnotation, module: Module, sources: Sources): Shape {
  const notes: (string | PythonExpression)[] = [];
  const reader = { sources, notes };
  const atoms = atomsOf(annotation, module, reader, 0);
  return {
    ...joined(atoms),
    classes: atoms.flatMap((atom) => (atom.kind === "class" ? [atom.class] : [])),
    notes,
  };
}

interface Reading {
  readonly sources: Sources;
  readonly notes: (string | PythonExpression)[];
}

function atomsOf(annotation: PythonAnnotation, module: Module, reading: Reading, depth: number): Atom[] {
  const inner = (one: PythonAnnotation | undefined): Atom[] =>
    one === undefined || depth > 12 ? [] : atomsOf(one, module, reading, depth + 1);
  switch (annotation.kind) {
    case "union":
      return annotation.members.flatMap(inner);
    case "value":
      return annotation.value === null ? [{ kind: "null" }] : [{ kind: "choice", value: annotation.value }];
    case "name":
      return namedAtoms(annotation, module, reading, inner, depth);
    default:
      return [{ kind: "plain", type: "any", open: true }];
  }
}

function namedAtoms(
  { name, args }: PythonAnnotation & { kind: "name" },
  module: Module,
  reading: Reading,
  inner: (one: PythonAnnotation | undefined) => Atom[],
  depth: number,
): Atom[] {
  const last = name.split(".").at(-1) ?? name;
  if (last === "Optional") return [{ kind: "null" }, ...inner(args[0])];
  if (last === "Union" || last === "Literal") return args.flatMap(inner);
  if (wrappers.has(last)) return inner(args[0]);
  if (isAnnotated(last) && args.length > 0) {
    for (const note of args.slice(1))
      if (note.kind === "call") reading.notes.push(note.call);
      else if (note.kind === "value" && typeof note.value === "string") reading.notes.push(note.value);
    return inner(args[0]);
  }
  const plain = plainAtom(words[last] ?? last, args);
  if (plain !== undefined) return [plain];
  const found = reading.sources.lookup(module, name);
  if (found?.alias !== undefined && depth < 12)
    return atomsOf(annotationOf(found.alias), found.module, reading, depth + 1);
  if (found?.class === undefined) return [{ kind: "plain", type: "any", open: true }];
  const members = membersOf(found, reading.sources);
  if (members === undefined) return [{ kind: "class", class: found }];
  return [...members.values()].map((value) => ({ kind: "choice", value }));
}

function plainAtom(word: string, args: readonly PythonAnnotation[]): Atom | undefined {
  const type = typeOfAnnotation(word);
  if (type === "any") return undefined;
  const [item] = args;
  const of = type === "list" && item?.kind === "name" ? item.name : undefined;
  return {
    kind: "plain",
    type,
    ...(of === "int" || of === "float" ? { of } : {}),
    ...(type === "dict" ? { open: true } : {}),
  };
}

/** An enumeration's names and values; undefined for any other class. */
export function membersOf(
  { module, class: found }: Declared,
  sources: Sources,
): ReadonlyMap<string, Json> | undefined {
  if (found === undefined) return undefined;
  const isEnum = found.bases.some((base) => {
    if (/Enum$/.test(base)) return true;
    const above = base === found.name ? undefined : sources.lookup(module, base);
    return above?.class !== undefined && membersOf(above, sources) !== undefined;
  });
  if (!isEnum) return undefined;
  return new Map(
    [...found.assigned].flatMap(([name, written]) => {
      const value = evaluated(written) ?? (isAuto(written) ? name.toLowerCase() : undefined);
      return value === undefined || name.startsWith("_") ? [] : [[name, value] as const];
    }),
  );
}

const isAuto = (written: PythonExpression): boolean =>
  written.kind === "call" && /(^|\.)auto$/.test(written.callee);

function joined(atoms: readonly Atom[]): Pick<Shape, "type" | "choices" | "of" | "open"> {
  const given = atoms.filter((atom) => atom.kind !== "null");
  const type = oneType([...new Set(given.map(typeOfAtom))]);
  const choices = [...new Set(given.flatMap((atom) => (atom.kind === "choice" ? [atom.value] : [])))];
  const of = given
    .map((atom) => (atom.kind === "plain" ? atom.of : undefined))
    .find((item) => item !== undefined);
  return {
    type: given.length < atoms.length ? nullable(type) : type,
    ...(type !== "bool" && given.length > 0 && given.every(({ kind }) => kind === "choice")
      ? { choices }
      : {}),
    ...(of === undefined || type !== "list" ? {} : { of }),
    ...(given.some((atom) => atom.kind === "plain" && atom.open) ? { open: true } : {}),
  };
}

const typeOfAtom = (atom: Atom): KeyType =>
  atom.kind === "choice" ? typeOfValue(atom.value) : atom.kind === "plain" ? atom.type : "dict";

/** A whole number is a number; other mixtures are anything. */
export function oneType(types: readonly KeyType[]): KeyType {
  const [only] = types;
  if (types.length === 1 && only !== undefined) return only;
  return types.length === 2 && types.every((type) => type === "int" || type === "float") ? "float" : "any";
}

export function nullable(type: KeyType): KeyType {
  return type === "any" || type.endsWith("?") ? type : (`${type}?` as KeyType);
}
