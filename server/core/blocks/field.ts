/**
 * What a key of the config is: one declaration, with its form, what it says, its default, and whether it may change while a
 * run is live. Checking, defaults, the JSON Schema, completion, hovers, the resolved config and its types follow from it.
 */
import type { z } from "zod";
import type { Json, JsonObject } from "../../../shared/lib/json.ts";
import type { Choice, SlotName } from "../declaration.ts";

/** The form a config may take, as data: what checking, completion, hover and the JSON Schema all walk. */
export type Shape =
  /** `short`: the key that a plain text means. `defaults`: of each item, where the map is a list's item. */
  | { readonly kind: "map"; readonly fields: Fields; readonly short?: string; readonly defaults?: JsonObject }
  /** A method by its name with its parameters; `own` are the keys that stay when the method changes. */
  | { readonly kind: "slot"; readonly slot: SlotName; readonly own: Fields; readonly defaults?: JsonObject }
  | { readonly kind: "list"; readonly item: Shape; readonly what: string }
  /** A list whose items have names: a map over it addresses them. */
  | { readonly kind: "named_list"; readonly item: Shape; readonly what: "task" | "stage" }
  /** Name → item. */
  | { readonly kind: "named_map"; readonly item: Shape; readonly what: string }
  | { readonly kind: "value"; readonly schema: z.ZodType }
  /** A file or folder, relative to the file that wrote it. */
  | { readonly kind: "path"; readonly words: readonly string[]; readonly what: string }
  /** A block of the closed set whose methods have not been built yet. */
  | { readonly kind: "later"; readonly what: string };

/** A value of a checked config, defaults included. */
export interface CheckedValue {
  readonly json: Json | undefined;
  /** Its key; of an item of a named list, the item's name. */
  readonly name: string;
  /** The value is a default. */
  readonly byDefault: boolean;
  /** Folder of the file that wrote it; undefined: no file did. */
  readonly folder: string | undefined;
  below(key: string): CheckedValue;
  /** Items of a list; `named`: what they are, where each has a name. */
  items(named?: "task" | "stage"): readonly CheckedValue[];
  /** Items of a map of names. */
  named(): readonly CheckedValue[];
  /** The method chosen here. */
  choice<Slot extends SlotName>(slot: Slot): Choice<Slot>;
  /** Schedules written inside a stage count that stage's steps. */
  clocked<Value>(value: Value): Value;
}

/** What may be written in one place, and what a run reads of it. */
export interface Item<Out = unknown> {
  readonly shape: Shape;
  readonly read: (value: CheckedValue) => Out;
}

export interface Field<Out = unknown> extends Item<Out>, Options {
  readonly summary: string;
}
export type Fields = Readonly<Record<string, Field>>;

export interface Options {
  /** What a config without the key means, as it would be written. */
  readonly default?: Json;
  readonly required?: boolean;
  /** `gradus runs set` may change it: nothing that a run built from it at its start would be wrong. Or: these parameters. */
  readonly live?: true | readonly string[];
  /** The key of the same block in whose map it is written. */
  readonly within?: string;
}
type OutOf<One> = One extends Item<infer Out> ? Out : never;
type Optional<F> = { [Key in keyof F]: undefined extends OutOf<F[Key]> ? Key : never }[keyof F];
/** What a run reads of fields. */
export type Built<F> = { readonly [Key in Exclude<keyof F, Optional<F>>]: OutOf<F[Key]> } & {
  readonly [Key in Optional<F>]?: OutOf<F[Key]>;
};

/** What a run reads of a block; `known`: keys of which that is known. */
export function build<F extends Fields>(fields: F, at: CheckedValue, known?: Partial<Built<F>>): Built<F>;
export function build(
  fields: Fields,
  at: CheckedValue,
  known: Readonly<Record<string, unknown>> = {},
): unknown {
  const found: Record<string, unknown> = {};
  for (const [key, { within, read }] of Object.entries(fields))
    found[key] = key in known ? known[key] : read((within === undefined ? at : at.below(within)).below(key));
  return found;
}

const isObject = (json: Json | undefined): json is JsonObject =>
  typeof json === "object" && json !== null && !Array.isArray(json);

/** Fields as they are written: those within another key are that slot's own. */
export const nested = (fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([key, field]): [string, Field][] => {
      if (field.within !== undefined) return [];
      const inside = Object.fromEntries(Object.entries(fields).filter(([, { within }]) => within === key));
      if (field.shape.kind !== "slot" || Object.keys(inside).length === 0) return [[key, field]];
      const own = { ...(isObject(field.default) ? field.default : {}), ...valuesOf(inside) };
      return [[key, { ...field, shape: { ...field.shape, own: inside }, default: own }]];
    }),
  );

const valuesOf = (fields: Fields): JsonObject =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([key, { default: usual }]) =>
      usual === undefined ? [] : [[key, usual] as const],
    ),
  );

/** What a block says where nothing is written. */
export const defaultsOf = (fields: Fields): JsonObject => valuesOf(nested(fields));
