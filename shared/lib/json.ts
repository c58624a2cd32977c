/** JSON values: what crosses every wire. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Of what is none, an empty one. */
export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});
