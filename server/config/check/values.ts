/** Walks a written value along the declaration of a parameter: every diagnostic is at the very key or value. */
import type { z } from "zod";
import { unspacedMap } from "../text/missingSpace.ts";
import {
  isWritten,
  join,
  isNull,
  toJson,
  type ListNode,
  type MapNode,
  type SourceNode,
} from "../text/node.ts";
import { perObject } from "../../lib/perObject.ts";
import { replace, unknownName, type Report } from "./report.ts";
import { nearest } from "../../lib/suggest.ts";
import { wordsFor, written } from "../grammar/words.ts";

/** zod's classes as far as a walk needs them: the public `def`, by its kind. */
type Kind =
  | { readonly kind: "object"; readonly shape: Readonly<Record<string, z.ZodType>> }
  | { readonly kind: "record"; readonly key: z.ZodType | undefined; readonly value: z.ZodType }
  | { readonly kind: "array"; readonly element: z.ZodType }
  | { readonly kind: "tuple"; readonly items: readonly z.ZodType[] }
  | { readonly kind: "union"; readonly options: readonly z.ZodType[] }
  | { readonly kind: "wrapper"; readonly inner: z.ZodType; readonly nullable: boolean }
  | { readonly kind: "leaf" };

export const isSchema = (value: unknown): value is z.ZodType =>
  typeof value === "object" && value !== null && "safeParse" in value;
const typesOf = (value: unknown): z.ZodType[] => (Array.isArray(value) ? value.filter(isSchema) : []);

export const kindOf = perObject((schema: z.ZodType): Kind => {
  const def: { type: string } & Readonly<Record<string, unknown>> = { ...schema.def };
  const { shape, keyType, valueType, element, items, options, innerType, in: input } = def;
  if (def.type === "object" && typeof shape === "object" && shape !== null)
    return { kind: "object", shape: { ...shape } };
  if (def.type === "record" && isSchema(valueType))
    return { kind: "record", key: isSchema(keyType) ? keyType : undefined, value: valueType };
  if (def.type === "array" && isSchema(element)) return { kind: "array", element };
  if (def.type === "tuple") return { kind: "tuple", items: typesOf(items) };
  if (def.type === "union") return { kind: "union", options: typesOf(options) };
  if (def.type === "pipe" && isSchema(input)) return { kind: "wrapper", inner: input, nullable: false };
  if (isSchema(innerType)) return { kind: "wrapper", inner: innerType, nullable: def.type === "nullable" };
  return { kind: "leaf" };
});

/** Through defaults, optionals and nullables, to what is really declared. */
export function unwrapped(schema: z.ZodType): z.ZodType {
  const kind = kindOf(schema);
  return kind.kind === "wrapper" ? unwrapped(kind.inner) : schema;
}

export const isRequired = perObject((schema: z.ZodType): boolean => !schema.safeParse(undefined).success);

/** Keys of a declared map, else none. */
export function keysOf(schema: z.ZodType): Readonly<Record<string, z.ZodType>> {
  const kind = kindOf(unwrapped(schema));
  if (kind.kind === "object") return kind.shape;
  return kind.kind === "union" ? Object.assign({}, ...kind.options.map(keysOf)) : {};
}

/** What the keys of a map of free keys are; undefined: it is no such map. */
export function keySchemaOf(schema: z.ZodType): z.ZodType | undefined {
  const kind = kindOf(unwrapped(schema));
  return kind.kind === "record" ? kind.key : undefined;
}

/** The words a value may be, where they are a closed set. */
export function wordsOf(schema: z.ZodType): readonly string[] {
  const inner = unwrapped(schema);
  const kind = kindOf(inner);
  if (kind.kind === "union") return kind.options.flatMap(wordsOf);
  const { entries, values, type }: { type: string } & Readonly<Record<string, unknown>> = { ...inner.def };
  if (type === "enum" && typeof entries === "object" && entries !== null)
    return Object.values(entries).map(String);
  if (type === "literal" && Array.isArray(values)) return values.map(String);
  return type === "boolean" ? ["true", "false"] : [];
}

/** Reports what is wrong with a value; true when nothing is. */
export function checkValue(schema: z.ZodType, node: SourceNode, path: string, report: Report): boolean {
  let clean = true;
  const spoil: Report = (diagnostic) => {
    clean = false;
    report(diagnostic);
  };
  walk(schema, node, path, spoil);
  if (!clean) return false;
  const parsed = schema.safeParse(toJson(node));
  if (!parsed.success) for (const issue of parsed.error.issues) leftover(issue, node, path, spoil);
  return clean;
}

function walk(schema: z.ZodType, node: SourceNode, path: string, report: Report): void {
  const kind = kindOf(schema);
  switch (kind.kind) {
    case "wrapper":
      if (!(kind.nullable && isNull(node))) walk(kind.inner, node, path, report);
      return;
    case "object":
      return node.kind === "map"
        ? walkMap(kind.shape, node, path, report)
        : wrongType(schema, node, path, report);
    case "record":
      if (node.kind !== "map") return wrongType(schema, node, path, report);
      for (const [key, { value }] of node.entries) walk(kind.value, value, join(path, key), report);
      return;
    case "array":
      return node.kind === "list"
        ? walkList(() => kind.element, schema, node, path, report)
        : wrongType(schema, node, path, report);
    case "tuple":
      if (node.kind !== "list" || node.items.length !== kind.items.length)
        return wrongType(schema, node, path, report);
      return walkList((index) => kind.items[index], schema, node, path, report);
    case "union":
      return walkUnion(schema, kind.options, node, path, report);
    case "leaf":
      if (!schema.safeParse(toJson(node)).success) wrongType(schema, node, path, report);
  }
}

function walkMap(
  shape: Readonly<Record<string, z.ZodType>>,
  node: MapNode,
  path: string,
  report: Report,
): void {
  const place = path === "" ? "the file" : `\`${path}\``;
  /** Keys that a misspelt one means: that they are missing is an echo. */
  const meant = new Set<string | undefined>();
  for (const [key, { key: at, value }] of node.entries) {
    const inner = shape[key];
    if (inner !== undefined) walk(inner, value, join(path, key), report);
    else {
      const { hint, fixes, meant: one } = unknownName(key, Object.keys(shape), at);
      meant.add(one);
      report({
        rule: "unknown-key",
        message: `\`${key}\` is not a key of ${place}. ${hint}`,
        key: join(path, key),
        at,
        fixes: isWritten(node, one, at) ? [] : fixes,
        misplaced: {},
      });
    }
  }
  for (const [key, inner] of Object.entries(shape)) {
    if (node.entries.has(key) || meant.has(key) || !isRequired(inner)) continue;
    report({
      rule: "missing-key",
      message: `${place.replace(/^t/, "T")} needs \`${key}\`: ${wordsFor(inner)}.`,
      key: join(path, key),
      at: node.origin,
    });
  }
}

function walkList(
  itemAt: (index: number) => z.ZodType | undefined,
  schema: z.ZodType,
  node: ListNode,
  path: string,
  report: Report,
): void {
  let clean = true;
  node.items.forEach((item, index) => {
    const inner = itemAt(index);
    if (inner !== undefined)
      walk(inner, item, join(path, index), (diagnostic) => {
        clean = false;
        report(diagnostic);
      });
  });
  if (clean && !schema.safeParse(toJson(node)).success) wrongType(schema, node, path, report);
}

/** The option whose form fits the written value; its diagnostics alone are worth reading. */
function walkUnion(
  schema: z.ZodType,
  options: readonly z.ZodType[],
  node: SourceNode,
  path: string,
  report: Report,
): void {
  if (options.some((option) => option.safeParse(toJson(node)).success)) return;
  const kinds = options.map((option) => ({ option, kind: kindOf(unwrapped(option)).kind }));
  const wanted =
    node.kind === "map" ? ["object", "record"] : node.kind === "list" ? ["array", "tuple"] : ["none"];
  const fitting = kinds.filter(({ kind }) => wanted.includes(kind)).map(({ option }) => option);
  const best = fitting.length <= 1 ? fitting[0] : bestFitting(fitting, node);
  if (best !== undefined) return walk(best, node, path, report);
  wrongType(schema, node, path, report);
}

function bestFitting(options: readonly z.ZodType[], node: SourceNode): z.ZodType | undefined {
  const keys = node.kind === "map" ? [...node.entries.keys()] : [];
  const score = (option: z.ZodType): number => keys.filter((key) => key in keysOf(option)).length;
  return [...options].sort((a, b) => score(b) - score(a))[0];
}

function wrongType(schema: z.ZodType, node: SourceNode, path: string, report: Report): void {
  const words = wordsOf(schema);
  const text = node.kind === "scalar" && node.value !== null ? String(node.value) : undefined;
  const meant = text === undefined ? undefined : nearest(text, words);
  const bare = unquoted(schema, node);
  const unspaced = unspacedMap(node, Object.keys(keysOf(schema)));
  const hint =
    meant !== undefined
      ? ` Did you mean \`${meant}\`?`
      : bare === undefined
        ? unspaced === undefined
          ? ""
          : ` ${unspaced.words}`
        : ` Write ${bare} without quotes.`;
  const better = meant ?? bare;
  report({
    rule: words.length > 0 && text !== undefined ? "unknown-value" : "type",
    message: `\`${path}\` must be ${wordsFor(schema)}, not ${written(node)}.${hint}`,
    key: path,
    at: node.origin,
    fixes:
      better === undefined
        ? unspaced === undefined
          ? []
          : [unspaced.fix]
        : [replace(node.origin.range, better, `Change to \`${better}\``)],
  });
}

/** `"8"` where 8 is right. */
function unquoted(schema: z.ZodType, node: SourceNode): string | undefined {
  if (node.kind !== "scalar" || typeof node.value !== "string" || node.value.trim() === "") return undefined;
  const value = node.value === "true" ? true : node.value === "false" ? false : Number(node.value);
  return schema.safeParse(value).success ? String(value) : undefined;
}

/** What only a declaration's own check can see. */
function leftover(issue: z.core.$ZodIssue, node: SourceNode, path: string, report: Report): void {
  let at = node;
  let place = path;
  for (const step of issue.path) {
    const below =
      at.kind === "map"
        ? at.entries.get(String(step))?.value
        : at.kind === "list"
          ? at.items[Number(step)]
          : undefined;
    if (below === undefined) break;
    at = below;
    place = join(place, String(step));
  }
  report({
    rule: "value",
    message: `\`${place}\`: ${issue.message}${/[.!?]$/.test(issue.message) ? "" : "."}`,
    key: place,
    at: at.origin,
  });
}
