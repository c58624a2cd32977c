/**
 * What people's files and programs rely on, a line each, as committed in test/fixtures/frozen. Code may be renamed and
 * moved; these lines stay. New ones may come: GRADUS_GOLDEN=1 adds them.
 */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import ts from "typescript";
import type { Json } from "../../shared/lib/json.ts";

const folder = join("test", "fixtures", "frozen");

/** Committed lines that are no longer there. */
export const missing = (committed: readonly string[], now: Iterable<string>): string[] => {
  const present = new Set(now);
  return committed.filter((line) => !present.has(line));
};

/** Fails with the committed lines that `now` lacks. */
export function assertFrozen(name: string, now: Iterable<string>): void {
  const file = join(folder, `${name}.txt`);
  const committed = existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
  if (process.env["GRADUS_GOLDEN"] !== undefined) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${[...new Set([...committed, ...now])].sort().join("\n")}\n`);
    return;
  }
  assert.ok(committed.length > 0, `${file} is missing`);
  const gone = missing(committed, now);
  assert.ok(
    gone.length === 0,
    `People's files and programs rely on these ${gone.length} lines of ${file}. Put them back:\n${gone.slice(0, 20).join("\n")}`,
  );
}

type Schema = { readonly [key: string]: Json };
const isSchema = (value: Json | undefined): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const limits = [
  ...["type", "default", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"],
  ...["minItems", "maxItems", "minLength", "maxLength", "pattern"],
];

/** A JSON Schema as lines: each path with its type, values, default and limits. A schema inside itself is reported once. */
export function schemaLines(root: Schema): string[] {
  const lines = new Set<string>();
  const walk = (node: Json | undefined, path: string, seen: readonly string[]): void => {
    if (!isSchema(node)) return;
    const reference = node["$ref"];
    if (typeof reference === "string") {
      const name = reference.split("/").at(-1) ?? "";
      const definitions = root["$defs"];
      if (!seen.includes(name) && isSchema(definitions)) walk(definitions[name], path, [...seen, name]);
      return;
    }
    for (const limit of limits)
      if (node[limit] !== undefined) lines.add(`${path} ${limit} ${JSON.stringify(node[limit])}`);
    const values = Array.isArray(node["enum"]) ? node["enum"] : [];
    for (const value of node["const"] === undefined ? values : [...values, node["const"]])
      lines.add(`${path} = ${JSON.stringify(value)}`);
    for (const name of node["required"] instanceof Array ? node["required"] : [])
      lines.add(`${path}.${String(name)} required`);
    for (const key of ["anyOf", "oneOf", "allOf"])
      for (const part of Array.isArray(node[key]) ? node[key] : []) walk(part, path, seen);
    if (isSchema(node["properties"]))
      for (const [key, value] of Object.entries(node["properties"])) walk(value, `${path}.${key}`, seen);
    walk(node["items"], `${path}[]`, seen);
    for (const item of Array.isArray(node["prefixItems"]) ? node["prefixItems"] : [])
      walk(item, `${path}[]`, seen);
    walk(node["additionalProperties"], `${path}.*`, seen);
  };
  walk(root, "", []);
  return [...lines];
}

/** A JSON value as lines: each path with its kind. */
export function valueLines(value: unknown, path: string): string[] {
  if (Array.isArray(value))
    return value.length === 0 ? [`${path}[]`] : value.flatMap((one) => valueLines(one, `${path}[]`));
  if (typeof value === "object" && value !== null)
    return Object.entries(value).flatMap(([key, one]) => valueLines(one, `${path}.${key}`));
  return [`${path}: ${value === null ? "null" : typeof value}`];
}

export interface Sources {
  /** A type that a file exports, as lines: each path with its kind. */
  typeLines(file: string, name: string): string[];
  /** The results of a table of requests. */
  resultLines(file: string, table: string): string[];
}

export function readSources(files: readonly string[]): Sources {
  const { config } = ts.readConfigFile("tsconfig.json", (path) => ts.sys.readFile(path));
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ".");
  const program = ts.createProgram({ rootNames: files, options: { ...options, noEmit: true } });
  const checker = program.getTypeChecker();
  const exported = (file: string, name: string): { symbol: ts.Symbol; source: ts.SourceFile } => {
    const source = program.getSourceFile(file);
    const module = source && checker.getSymbolAtLocation(source);
    const symbol = module && checker.getExportsOfModule(module).find((one) => one.name === name);
    if (source === undefined || symbol === undefined) throw new Error(`${file} exports no ${name}`);
    return { symbol, source };
  };
  return {
    typeLines: (file, name) =>
      linesOf(checker, checker.getDeclaredTypeOfSymbol(exported(file, name).symbol), name),
    resultLines: (file, table) => {
      const { symbol, source } = exported(file, table);
      return checker
        .getTypeOfSymbolAtLocation(symbol, source)
        .getProperties()
        .flatMap((request) => {
          const result = checker.getTypeOfSymbolAtLocation(request, source).getProperty("result");
          if (result === undefined) return [`${request.name} notifies`];
          const type = checker.getNonNullableType(checker.getTypeOfSymbolAtLocation(result, source));
          return linesOf(checker, type, request.name);
        });
    },
  };
}

/** Types that are leaves: any JSON, and what the language itself has. */
const isLeaf = (type: ts.Type): boolean =>
  ["Json", "JsonObject"].includes(type.aliasSymbol?.name ?? "") ||
  ((type.symbol?.flags ?? 0) & (ts.SymbolFlags.Interface | ts.SymbolFlags.Class) &&
    (type.symbol.declarations ?? []).some((one) =>
      /\/lib\.[\w.]+\.d\.ts$/.test(one.getSourceFile().fileName),
    )) === true;

/** Which of a union's objects: `<start>` of the one whose `kind` or `type` is "start". */
function variantOf(checker: ts.TypeChecker, type: ts.Type): string {
  const tag = type.getProperty("kind") ?? type.getProperty("type");
  const value = tag === undefined ? undefined : checker.getTypeOfSymbol(tag);
  return value?.isStringLiteral() === true ? `<${value.value}>` : "";
}

function linesOf(checker: ts.TypeChecker, root: ts.Type, from: string): string[] {
  const lines = new Set<string>();
  const walk = (type: ts.Type, path: string, above: readonly ts.Type[]): void => {
    if (above.includes(type)) return;
    const within = [...above, type];
    const walkAll = (types: readonly ts.Type[], to: string): void =>
      types.forEach((one) => walk(one, to, within));
    if (type.isUnion()) walkAll(type.types, path);
    else if (type.isLiteral() || type.flags & ts.TypeFlags.BooleanLiteral)
      lines.add(`${path} = ${checker.typeToString(type)}`);
    else if (checker.isArrayType(type) || checker.isTupleType(type))
      walkAll(checker.getTypeArguments(type as ts.TypeReference), `${path}[]`);
    else if (isLeaf(type) || !(type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection)))
      lines.add(`${path}: ${type.aliasSymbol?.name ?? checker.typeToString(type)}`);
    else {
      const own = `${path}${variantOf(checker, type)}`;
      const any = checker.getIndexTypeOfType(type, ts.IndexKind.String);
      if (any !== undefined) walk(any, `${own}.*`, within);
      for (const property of checker.getPropertiesOfType(type)) {
        const value = checker.getTypeOfSymbol(property);
        if ((property.flags & ts.SymbolFlags.Optional) === 0) walk(value, `${own}.${property.name}`, within);
        else walk(checker.getNonNullableType(value), `${own}.${property.name}?`, within);
      }
    }
  };
  walk(root, from, []);
  return [...lines];
}
