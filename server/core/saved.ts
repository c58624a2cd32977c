/** Reading saved state back: what does not have the form that was saved is left out. */
import { z } from "zod";
import type { Json } from "../../shared/lib/json.ts";
import type { Saved } from "./basics.ts";

const lists = z.array(z.tuple([z.number().int(), z.array(z.number())]));

const parts = z.record(z.string(), z.json());

/** Lists of numbers by arm. */
export const listsByArm = (json: Json): readonly (readonly [number, number[]])[] =>
  lists.safeParse(json).data ?? [];

/** Several parts' state as one: their arrays are named `<part>/<name>`. */
export const joined = (parts: Readonly<Record<string, Saved | undefined>>): Saved => ({
  json: Object.fromEntries(Object.entries(parts).map(([name, saved]) => [name, saved?.json ?? null])),
  arrays: Object.fromEntries(
    Object.entries(parts).flatMap(([name, saved]) =>
      Object.entries(saved?.arrays ?? {}).map(([array, values]) => [`${name}/${array}`, values]),
    ),
  ),
});

/** One part of what `joined` made. */
export function partOf({ json, arrays }: Saved, name: string): Saved {
  const own = parts.safeParse(json).data?.[name];
  return {
    json: own ?? null,
    arrays: Object.fromEntries(
      Object.entries(arrays ?? {}).flatMap(([array, values]) =>
        array.startsWith(`${name}/`) ? [[array.slice(name.length + 1), values]] : [],
      ),
    ),
  };
}
