/** The kinds of keys: values, schedules, choices of a method, and blocks, lists and maps of them. */
import { z } from "zod";
import type { Json, JsonObject } from "../../../shared/lib/json.ts";
import type { Choice, SlotName } from "../declaration.ts";
import { schedulable, type Scheduled } from "../schedule.ts";
import {
  build,
  defaultsOf,
  nested,
  type Built,
  type CheckedValue,
  type Field,
  type Fields,
  type Item,
  type Options,
  type Shape,
} from "./field.ts";

/** What a run reads in place of a value that is not written: nothing, where there is a default or it must be written. */
type Absent<O extends Options> = O extends { readonly default: Json } | { readonly required: true }
  ? never
  : undefined;

type Kept<Value> = Value extends readonly (infer One)[] ? readonly One[] : Value;
type Parsed<Schema extends z.ZodType> = Kept<z.output<Schema>>;

export const whole = (least: number): z.ZodNumber => z.number().int().min(least);
export const fraction = z.number().min(0).max(1);

/** A value of a schema. It was checked before it is read: only inside lists and maps are there defaults to fill in. */
export function value<Schema extends z.ZodType, O extends Options = Record<never, never>>(
  schema: Schema,
  summary: string,
  options?: O,
): Field<Parsed<Schema> | Absent<O>>;
export function value(schema: z.ZodType, summary: string, options: Options = {}): Field {
  const read = ({ json }: CheckedValue): unknown => {
    const written = json ?? options.default;
    return typeof written === "object" ? schema.parse(written) : written;
  };
  return { shape: { kind: "value", schema }, summary, ...options, read };
}

/** A value that may hold schedules. */
export function moving<Schema extends z.ZodType, O extends Options = Record<never, never>>(
  schema: Schema,
  summary: string,
  options?: O,
): Field<Parsed<Schema> | Absent<O>>;
export function moving(schema: z.ZodType, summary: string, options?: Options): Field {
  return made(value(schema, summary, options), (read, at) => at.clocked(read));
}

/** A number, or how it moves over steps. */
export const scheduled = <O extends Options = Record<never, never>>(
  schema: z.ZodType<number>,
  summary: string,
  options?: O,
): Field<Scheduled | Absent<O>> => moving(schedulable(schema), summary, options);

/** A file or folder, relative to the file that wrote it, or one of these words. */
export const path = (
  words: readonly string[],
  what: string,
  summary: string,
  options: Options & { readonly default: string },
): Field<string> => ({
  shape: { kind: "path", words, what },
  summary,
  ...options,
  read: ({ json }) => z.string().parse(json ?? options.default),
});

/** The field, of whose value a run reads something else. */
export const made = <In, Out>(field: Field<In>, make: (read: In, at: CheckedValue) => Out): Field<Out> => ({
  ...field,
  read: (at) => make(field.read(at), at),
});

/** A method of a slot. */
export const choiceItem = <Slot extends SlotName>(slot: Slot): Item<Choice<Slot>> => ({
  shape: { kind: "slot", slot, own: {} },
  read: (at) => at.choice(slot),
});

/** A choice of a method; `default`: its name, or what is written of it. */
export function choice<Slot extends SlotName, O extends Options = Record<never, never>>(
  slot: Slot,
  summary: string,
  options?: O,
): Field<Choice<Slot> | Absent<O>>;
export function choice(slot: SlotName, summary: string, options: Options = {}): Field {
  const field = whereWritten(choiceItem(slot), summary, options);
  return typeof options.default === "string" ? { ...field, default: { use: options.default } } : field;
}

/** A method of a slot, read as `as`, with keys that stay when the method changes. */
export function method<Slot extends SlotName, As extends string, Own extends Fields>(
  slot: Slot,
  as: As,
  own: Own,
): Item<{ readonly [Key in As]: Choice<Slot> } & Built<Own>>;
export function method(slot: SlotName, as: string, own: Fields): Item {
  return {
    shape: { kind: "slot", slot, own: nested(own), ...unlessEmpty(defaultsOf(own)) },
    read: (at) => ({ [as]: at.choice(slot), ...build(own, at) }),
  };
}

/** A block that is a choice itself. */
export function methodBlock<Slot extends SlotName, As extends string, Own extends Fields>(
  chosen: { readonly slot: Slot; readonly as: As; readonly default: JsonObject },
  own: Own,
  summary: string,
): Field<{ readonly [Key in As]: Choice<Slot> } & Built<Own>> {
  const { read } = method(chosen.slot, chosen.as, own);
  const shape: Shape = { kind: "slot", slot: chosen.slot, own: nested(own) };
  return { shape, summary, default: { ...chosen.default, ...defaultsOf(own) }, read };
}

/** A block; `short`: the key that a plain text means. */
export const map = <F extends Fields>(fields: F, summary: string, short?: string): Field<Built<F>> => ({
  shape: { kind: "map", fields: nested(fields), ...(short === undefined ? {} : { short }) },
  summary,
  default: defaultsOf(fields),
  read: (at) => build(fields, at),
});

/** A map with defaults that hold wherever one is written: an item of a list, or a part that may be absent. */
export const entry = <F extends Fields>(
  fields: F,
  { short, defaults = defaultsOf(fields) }: { readonly short?: string; readonly defaults?: JsonObject } = {},
): Item<Built<F>> => ({
  shape: {
    kind: "map",
    fields: nested(fields),
    ...(short === undefined ? {} : { short }),
    ...unlessEmpty(defaults),
  },
  read: (at) => build(fields, at),
});

/** What is absent where it is not written. */
export const whereWritten = <Out>(
  { shape, read }: Item<Out>,
  summary: string,
  options: Options = {},
): Field<Out | undefined> => ({
  shape,
  summary,
  ...options,
  read: (at) => (at.json === undefined ? undefined : read(at)),
});

/** `default`: the empty list, unless the config is to stay without one. */
export const list = <Out>(
  what: string,
  { shape, read }: Item<Out>,
  summary: string,
  options: Options = { default: [] },
): Field<readonly Out[]> => ({
  shape: { kind: "list", item: shape, what },
  summary,
  ...options,
  read: (at) => at.items().map(read),
});

/** A list whose items have names, by which a map over it addresses them. */
export const namedList = <Out>(
  what: "task" | "stage",
  { shape, read }: Item<Out>,
  summary: string,
): Field<readonly Out[]> => ({
  shape: { kind: "named_list", item: shape, what },
  summary,
  read: (at) => at.items(what).map(read),
});

/** Name → item; a run reads a list of them in their order. */
export const namedMap = <Out>(
  what: string,
  { shape, read }: Item<Out>,
  summary: string,
  options: Options = {},
): Field<readonly Out[]> => ({
  shape: { kind: "named_map", item: shape, what },
  summary,
  ...options,
  read: (at) => at.named().map(read),
});

/** A block of the closed set whose methods have not been built yet. */
export const later = (what: string, summary: string): Field<undefined> => ({
  shape: { kind: "later", what },
  summary,
  read: () => undefined,
});

const unlessEmpty = (defaults: JsonObject): { readonly defaults?: JsonObject } =>
  Object.keys(defaults).length === 0 ? {} : { defaults };
