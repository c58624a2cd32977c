/** rl.toml of dotted settings. */
import { stringify } from "smol-toml";
import type { JsonObject } from "../../../../../shared/lib/json.ts";
import { nested } from "../../../lens/settings.ts";
import { isObject } from "../../../text/values.ts";
import { heldOut, source } from "../lens/keys.ts";

/** Settings as prime-rl's tree: the keys of an environment are those of the only one in a list. */
export const treeOf = (settings: JsonObject): JsonObject =>
  [source, heldOut].reduce((tree, key) => listed(tree, key.split(".")), nested(Object.entries(settings)));

function listed(tree: JsonObject, [key, ...rest]: readonly string[]): JsonObject {
  const value = key === undefined ? undefined : tree[key];
  if (key === undefined || !isObject(value)) return tree;
  return { ...tree, [key]: rest.length === 0 ? [value] : listed(value, rest) };
}

/** @param comment stands above them */
export const tomlText = (tree: JsonObject, comment: string): string => `# ${comment}\n\n${stringify(tree)}`;
