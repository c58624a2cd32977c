/**
 * In what resolved configs differ, by key. The order of a map's keys means nothing, items of lists are matched by their names
 * where they have names, and a list without names is one value. Pure.
 */
import { isDeepStrictEqual } from "node:util";
import type { Json, JsonObject } from "../../../shared/lib/json.ts";
import { isObject } from "../evidence/json.ts";

/** A key in which some of several trees differ: an entry a tree; undefined where it has no such key. */
export interface TreeDifference {
  readonly path: string;
  readonly values: readonly (Json | undefined)[];
}
type Values = readonly (Json | undefined)[];

const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value);

export const treeDifferences = (trees: readonly JsonObject[]): readonly TreeDifference[] =>
  differing(trees, "");

function differing(values: Values, path: string): TreeDifference[] {
  if (values.every(isObject)) return ofMaps(values, path);
  const [first] = values;
  if (values.every((value) => value === first)) return [];
  const named = values.map(byName);
  if (named.every((one) => one !== undefined)) return ofMaps(named, path);
  return values.every((value) => isDeepStrictEqual(value, first)) ? [] : [{ path, values }];
}

function ofMaps(maps: readonly JsonObject[], path: string): TreeDifference[] {
  const keys = new Set(maps.flatMap((map) => Object.keys(map)));
  return [...keys].flatMap((key) =>
    differing(
      maps.map((map) => map[key]),
      joined(path, key),
    ),
  );
}

/** A list of named things as a map; undefined: it is no list, or some item has no name, or two have one. */
function byName(value: Json | undefined): JsonObject | undefined {
  if (!isList(value)) return undefined;
  const names = value.map((item) => (isObject(item) ? item["name"] : undefined));
  if (!names.every((name) => typeof name === "string") || new Set(names).size < names.length)
    return undefined;
  return Object.fromEntries(names.map((name, at) => [name, value[at]!]));
}

const joined = (path: string, key: string): string => {
  const own = /^[\w-]+$/.test(key) ? key : JSON.stringify(key);
  return path === "" ? own : `${path}.${own}`;
};

/** Whether a tree as its author wrote it says something of a path: `baseline: none` says `baseline.use`. */
export function writes(authored: Json | undefined, path: readonly string[]): boolean {
  const [key, ...rest] = path;
  if (authored === undefined) return false;
  if (key === undefined || !(isObject(authored) || isList(authored))) return true;
  const map = isObject(authored) ? authored : byName(authored);
  if (map === undefined) return true;
  return Object.hasOwn(map, key) && writes(map[key], rest);
}
