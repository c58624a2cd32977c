/** What names mean in a config, and which parameters take them. */
import type { z } from "zod";
import { referenceOf } from "../../core/references.ts";
import { keySchemaOf, kindOf, unwrapped } from "../../config/check/values.ts";

export type NameKind = "stage" | "task" | "term" | "model" | "head";

/** A name inside a longer text. */
export interface NamePart {
  readonly kind: NameKind;
  readonly name: string;
  /** Characters from the text's beginning. */
  readonly start: number;
}

/** As messages call them. */
export const words: Readonly<Record<NameKind, string>> = {
  stage: "stage",
  task: "task",
  term: "reward term",
  model: "model",
  head: "value head",
};

/** What a value names, alone or in a list: its declaration says so. */
export function namedBy(schema: z.ZodType): NameKind | undefined {
  const inner = unwrapped(schema);
  const kind = kindOf(inner);
  if (kind.kind === "array") return namedBy(kind.element);
  const to = referenceOf(inner)?.to;
  return to === "model" || to === "term" || to === "task" || to === "head" || to === "stage" ? to : undefined;
}

/** What the keys of a map name. */
export function keyNamedBy(schema: z.ZodType): NameKind | undefined {
  const key = keySchemaOf(schema);
  return key && namedBy(key);
}

/** Words for models that every run has. They all come of the policy, and none can be called otherwise. */
export const policyWords: readonly string[] = ["policy", "reference", "previous", "behaviour"];
