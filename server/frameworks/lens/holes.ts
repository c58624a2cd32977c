/** Holes in a block that a trainer declares: what one of its settings holds, to be read into a config and written back. */
import { isObject, type Json, type JsonObject } from "../../../shared/lib/json.ts";
import type { Settings } from "./settings.ts";

/** A number. */
export interface KeyHole {
  readonly $key: string;
  /** The setting that holds it where that one is null. */
  readonly otherwise?: string;
  /** The setting where nothing is bounded, which is null in a config. */
  readonly unbounded?: number;
  /** From it on nothing is bounded; default: never. */
  readonly from?: number;
}
/** What a switch decides. */
export interface FlagHole {
  readonly $flag: string;
  readonly on: Json;
  readonly off: Json;
}

export const key = (setting: string, more: Omit<KeyHole, "$key"> = {}): JsonObject & KeyHole => ({
  $key: setting,
  ...more,
});
export const flag = (setting: string, on: Json, off: Json): JsonObject & FlagHole => ({
  $flag: setting,
  on,
  off,
});

export const isKey = (value: unknown): value is KeyHole =>
  isObject(value) && typeof value["$key"] === "string";
export const isFlag = (value: unknown): value is FlagHole =>
  isObject(value) && typeof value["$flag"] === "string";

/** A declared block with what the settings hold; a number that neither they nor the defaults have is left out. */
export const filledIn = (block: JsonObject, settings: Settings): JsonObject =>
  Object.fromEntries(
    Object.entries(block).flatMap(([path, value]): [string, Json][] => {
      const own = filled(value, settings);
      return own === undefined ? [] : [[path, own]];
    }),
  );

function filled(value: Json, settings: Settings): Json | undefined {
  if (isKey(value)) return numberAt(value, settings);
  if (isFlag(value)) return filled(settings.flag(value.$flag) ? value.on : value.off, settings);
  return isObject(value) ? filledIn(value, settings) : value;
}

function numberAt(
  { $key, otherwise, from = Number.POSITIVE_INFINITY }: KeyHole,
  settings: Settings,
): Json | undefined {
  const instead = otherwise === undefined ? undefined : settings.number(otherwise);
  const own = settings.number($key) ?? instead ?? settings.usual($key);
  return own !== undefined && own >= from ? null : own;
}
