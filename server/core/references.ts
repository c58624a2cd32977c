/** What a text in a config names: completion offers it, and whoever follows names can ask. */
import { z } from "zod";

export type Reference =
  | { readonly to: "metric" | "evaluation metric" }
  /** `also`: models that every run has. */
  | { readonly to: "model"; readonly also?: readonly string[] }
  | { readonly to: "task" | "term" | "head" | "stage" | "snapshot" }
  /** What an entry of `kl` shows its model: `sibling`, `wrong_sibling-2`. */
  | { readonly to: "shown" }
  /** A file, relative to the config that writes it, by the ends of its name. `also`: what comes along, and is no file. */
  | { readonly to: "file"; readonly ends: readonly string[]; readonly also?: readonly string[] }
  /** A field of the task's data; `{field}` in a template. `fields`: where the environment makes them. */
  | { readonly to: "field" | "template"; readonly fields?: readonly string[] }
  /** What says how much: `8GiB`. */
  | { readonly to: "size" };

/**
 * Models that every run has: the policy as it entered, as it generated, and as the step found it (under the two names
 * that papers have for that).
 */
export const alwaysModels: readonly string[] = ["reference", "behaviour", "proximal", "previous"];

const references = z.registry<Reference>();

/** A text that names something. */
export const refers = (reference: Reference): z.ZodString => z.string().register(references, reference);

/** A template with these `{field}` places; without any, the fields of the dataset's lines. */
export const template = (...fields: readonly string[]): z.ZodString =>
  refers(fields.length === 0 ? { to: "template" } : { to: "template", fields });

export const referenceOf = (schema: z.ZodType): Reference | undefined => references.get(schema);
