import type { JsonObject } from "../../../../shared/lib/json.ts";

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Of what is none, an empty one. */
export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});
