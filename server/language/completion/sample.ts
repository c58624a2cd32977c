/** A value for where one is needed and nothing is known of it but its form. */
import type { z } from "zod";
import type { Json } from "../../../shared/lib/json.ts";
import { kindOf, unwrapped, wordsOf } from "../../config/check/values.ts";
import { jsonSchemaOf } from "../../config/grammar/words.ts";

export function sampleOf(schema: z.ZodType): Json {
  const inner = unwrapped(schema);
  const { kind, ...rest } = { ...kindOf(inner) };
  const [word] = wordsOf(inner);
  if (word !== undefined) return word === "true" || word === "false" ? word === "true" : word;
  if (kind === "array" && "element" in rest) return [sampleOf(rest.element)];
  if (kind === "union" && "options" in rest)
    return rest.options[0] === undefined ? null : sampleOf(rest.options[0]);
  if (kind === "object" || kind === "record") return {};
  const candidates: readonly Json[] = [1, 0, 0.5, 0.1, 2, "text"];
  const { minimum } = jsonSchemaOf(inner);
  return [...candidates, minimum ?? 0].find((value) => inner.safeParse(value).success) ?? null;
}
