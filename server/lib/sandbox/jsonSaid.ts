import type { Json } from "../../../shared/lib/json.ts";

/** What a program said as JSON; undefined: it is none. Whatever it is, it is no error of ours. */
export function jsonSaid(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
