/** JSON values: what crosses every wire. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Levels that a value from elsewhere may have: what works through values calls itself once a level. */
export const mostLevels = 500;

/**
 * JSON from elsewhere. Its own reader takes a million levels, but nothing that reads the value afterwards does.
 * @throws SyntaxError where it is no JSON, or is nested deeper than `mostLevels`
 */
export function parseShallow(text: string): Json {
  const value: Json = JSON.parse(text);
  return shallow(value);
}

/** The value itself. @throws SyntaxError as `parseShallow` */
export function shallow<Value>(value: Value): Value {
  if (isDeeper(value, mostLevels)) throw new SyntaxError(`it is nested more than ${mostLevels} levels deep`);
  return value;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  const items: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  return items.some((item) => typeof item === "object" && isDeeper(item, levels - 1));
}

/** Of what is none, an empty one. */
export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});
