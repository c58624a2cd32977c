/** The form a config may take, as data: what checking, completion, hover and the JSON Schema all walk. */
import type { z } from "zod";
import type { JsonObject } from "../../../shared/json.ts";
import type { SlotName } from "../../core/declaration.ts";

export interface Field {
  readonly shape: Shape;
  readonly summary: string;
  readonly required?: boolean;
}
export type Fields = Readonly<Record<string, Field>>;

export type Shape =
  /** `short`: the key that a plain text stands for. `defaults`: of each item, where the map is a list's item. */
  | { readonly kind: "map"; readonly fields: Fields; readonly short?: string; readonly defaults?: JsonObject }
  /** A method by its name with its parameters; `own` are the keys that stay when the method changes. */
  | { readonly kind: "slot"; readonly slot: SlotName; readonly own: Fields; readonly defaults?: JsonObject }
  | { readonly kind: "list"; readonly item: Shape; readonly what: string }
  /** A list whose items have names: a map over it addresses them. */
  | { readonly kind: "named_list"; readonly item: Shape; readonly what: "task" | "stage" }
  /** Name → item. */
  | { readonly kind: "named_map"; readonly item: Shape; readonly what: string }
  | { readonly kind: "value"; readonly schema: z.ZodType }
  /** A file or folder, relative to the file that wrote it. */
  | { readonly kind: "path"; readonly words: readonly string[]; readonly what: string }
  /** A block of the closed set whose methods have not been built yet. */
  | { readonly kind: "later"; readonly what: string };
