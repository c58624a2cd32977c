/**
 * What a statement's text asks for, and whether the values given are that: SQLite packages differ in what they do with
 * a value too many, a name too few or a type they have no column for, so it is checked before it reaches one.
 */
import type { SqlValues } from "./database.ts";

interface Placeholders {
  readonly count: number;
  readonly names: readonly string[];
}

export function placeholdersOf(sql: string): Placeholders {
  const bare = sql.replace(/'[^']*'|"[^"]*"|--.*/g, "");
  return {
    count: bare.split("?").length - 1,
    names: [...bare.matchAll(/@(\w+)/g)].map(([, name]) => name ?? ""),
  };
}

export type Values =
  | { readonly kind: "ordered"; readonly values: SqlValues }
  | { readonly kind: "named"; readonly values: Readonly<Record<string, unknown>> };

/** @throws RangeError for a number or names of values that the statement does not take, TypeError for their types */
export function valuesFor(values: SqlValues, { count, names }: Placeholders): Values {
  const [first] = values;
  if (values.length === 1 && isNamed(first) && names.length > 0 && count === 0) {
    for (const name of names) {
      if (!(name in first)) throw new RangeError(`Missing named parameter "${name}"`);
      check(first[name], `@${name}`);
    }
    return { kind: "named", values: Object.fromEntries(names.map((name) => [name, first[name]])) };
  }
  if (values.length !== count || names.length > 0)
    throw new RangeError(`The statement takes ${count + names.length} values, not ${values.length}`);
  values.forEach((value, index) => check(value, `value ${index + 1}`));
  return { kind: "ordered", values };
}

const isNamed = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;

function check(value: unknown, which: string): void {
  if (value === null || value === undefined || typeof value === "number" || typeof value === "string") return;
  if (value instanceof Uint8Array) return;
  if (typeof value === "bigint" && BigInt.asIntN(64, value) === value) return;
  throw new TypeError(`SQLite cannot store ${which}, a ${typeof value}`);
}
