/** Values and patterns as Python writes them. */
import { isObject, type Json } from "../../../../shared/lib/json.ts";

/** A literal. */
export function literal(value: Json): string {
  if (value === null) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (Array.isArray(value)) return `[${value.map((one: Json) => literal(one)).join(", ")}]`;
  if (isObject(value))
    return `{${Object.entries(value)
      .map(([key, one]) => `${JSON.stringify(key)}: ${literal(one)}`)
      .join(", ")}}`;
  return JSON.stringify(value);
}

/** `, strip=False` for what is not as the function has it anyway. */
export const keywords = (
  given: Readonly<Record<string, Json | undefined>>,
  usual: Readonly<Record<string, Json>> = {},
): string =>
  Object.entries(given)
    .filter(([key, value]) => value !== undefined && JSON.stringify(value) !== JSON.stringify(usual[key]))
    .map(([key, value]) => `, ${key}=${literal(value ?? null)}`)
    .join("");

/** What Python's `re` does not have, or means otherwise. */
const foreign = /\\[pP]\{|\\u\{|\\c[A-Za-z]|\[\^?\]|\[[^\]]*(?:&&|--)/;

/** A JavaScript pattern for `re` with its flag ASCII; undefined: it cannot be said there. */
export function pythonPattern(pattern: string): string | undefined {
  if (foreign.test(pattern)) return undefined;
  return pattern.replace(/\\k<(\w+)>|\\[\s\S]|\(\?<(?=[A-Za-z_])|\$/g, (found, name: string | undefined) => {
    if (name !== undefined) return `(?P=${name})`;
    if (found === "(?<") return "(?P<";
    // In JavaScript it is not the place before a last line break.
    return found === "$" ? "\\Z" : found;
  });
}
