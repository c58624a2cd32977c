/** Values as Hydra, Python's command lines and YAML 1.1 write them. */
import { parse } from "yaml";
import type { Json, JsonObject } from "../../../shared/lib/json.ts";

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Nested maps as dotted keys. Lists and empty maps are values. */
export function flat(tree: JsonObject, before = ""): [string, Json][] {
  return Object.entries(tree).flatMap(([key, value]) =>
    isObject(value) && Object.keys(value).length > 0
      ? flat(value, `${before}${key}.`)
      : [[`${before}${key}`, value] as [string, Json]],
  );
}

/** `100_000`: a number of YAML 1.1, of Hydra and of Python's own `int`. */
export const isGrouped = (text: string): boolean => /^[-+]?[1-9]\d*(_\d+)+$/.test(text);

/** One value of a command line. */
export function valueOf(text: string): Json {
  const trimmed = text.trim();
  if (/^(True|true|yes|on)$/.test(trimmed)) return true;
  if (/^(False|false|no|off)$/.test(trimmed)) return false;
  if (/^(None|null|~|)$/.test(trimmed)) return null;
  if (isGrouped(trimmed)) return Number(trimmed.replaceAll("_", ""));
  if (/^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$/.test(trimmed)) return Number(trimmed);
  if (!/^[[{'"]/.test(trimmed)) return trimmed;
  try {
    return pythonic(parse(trimmed.replace(/:(?=[^\s/])/g, ": ")));
  } catch (error) {
    if (error instanceof Error) return trimmed;
    throw error;
  }
}

/** Words inside of a list that YAML leaves as text. */
export function pythonic(value: unknown): Json {
  if (Array.isArray(value)) return value.map(pythonic);
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, pythonic(item)]));
  if (typeof value === "string" && /^(True|False|None|[-+]?\d+(\.\d*)?[eE][-+]?\d+)$/.test(value))
    return valueOf(value);
  if (typeof value === "string" && isGrouped(value)) return Number(value.replaceAll("_", ""));
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? value : null;
}
