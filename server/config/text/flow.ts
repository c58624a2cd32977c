/** A value as YAML on one line, as people write it. */
import type { Json } from "../../../shared/lib/json.ts";

/** What YAML reads as something other than a text. */
const words = /^(true|false|null|yes|no|on|off|y|n)$/i;
const plain = (text: string): string =>
  /^[A-Za-z_][\w./-]*$/.test(text) && !words.test(text) ? text : JSON.stringify(text);

export function flowText(value: Json): string {
  if (typeof value === "string") return plain(value);
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (isList(value)) return `[${value.map(flowText).join(", ")}]`;
  return `{ ${Object.entries(value)
    .map(([key, own]) => `${plain(key)}: ${flowText(own)}`)
    .join(", ")} }`;
}
const isList = (value: Json): value is readonly Json[] => Array.isArray(value);
