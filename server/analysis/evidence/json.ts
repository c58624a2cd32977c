/** Values of a resolved config's tree by their paths, a stage's own before the top level's. */
import type { Json, JsonObject } from "../../../shared/lib/json.ts";
import { segments } from "../../config/address.ts";

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value);

/** Items of named lists go by their names, those of others by their place. */
export function valueAt(tree: Json | undefined, path: readonly string[]): Json | undefined {
  const [first, ...rest] = path;
  if (first === undefined) return tree;
  if (isList(tree))
    return valueAt(
      tree.find((item) => isObject(item) && item["name"] === first) ?? tree[Number(first)],
      rest,
    );
  return isObject(tree) && Object.hasOwn(tree, first) ? valueAt(tree[first], rest) : undefined;
}

/** Maps merge, everything else is replaced: as configs do. */
function merged(below: Json | undefined, above: Json | undefined): Json | undefined {
  if (above === undefined) return below;
  if (!isObject(below) || !isObject(above)) return above;
  const keys = [...new Set([...Object.keys(below), ...Object.keys(above)])];
  return Object.fromEntries(
    keys.flatMap((key) => {
      const value = merged(below[key], above[key]);
      return value === undefined ? [] : [[key, value]];
    }),
  );
}

/** The value that holds in a stage. */
export function effective(tree: JsonObject, stage: string | null, path: string): Json | undefined {
  const keys = segments(path);
  const top = valueAt(tree, keys);
  return stage === null ? top : merged(top, valueAt(tree, ["stages", stage, ...keys]));
}
