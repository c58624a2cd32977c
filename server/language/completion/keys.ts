/** The keys that may be written in the map at a spot. */
import type { z } from "zod";
import { referenceOf, type Reference } from "../../core/references.ts";
import type { Declaration } from "../../core/declaration.ts";
import { nameOf, takesFile } from "../../config/check/method.ts";
import type { Field, Shape } from "../../core/blocks/field.ts";
import { isRequired, isSchema, keySchemaOf, keysOf, kindOf, unwrapped } from "../../config/check/values.ts";
import { wordsFor } from "../../config/grammar/words.ts";
import { chosenMethod, schemaOf, type Spot } from "../spot.ts";
import type { KeyOffer, Opens } from "./offer.ts";

/** At the top a run needs these, whatever the grammar can do without. */
const needed = new Set(["tasks", "reward"]);

export function keysAt(spot: Spot, atRoot: boolean): KeyOffer[] {
  if (spot.kind === "method") return [];
  if (spot.kind === "schema") return schemaKeys(spot.schema);
  const { shape } = spot;
  switch (shape.kind) {
    case "map":
      return Object.entries(shape.fields).map(([text, field]) =>
        fieldKey(text, field, atRoot && needed.has(text)),
      );
    case "value":
      return schemaKeys(shape.schema);
    case "slot":
      return slotKeys(shape, spot);
    case "named_list":
      return namesAt(spot, shape.what);
    default:
      return [];
  }
}

const fieldKey = (text: string, { shape, summary, required = false }: Field, wanted: boolean): KeyOffer => ({
  kind: "key",
  text,
  opens: opensOf(shape),
  required: required || wanted,
  detail: required || wanted ? "required" : "",
  says: () => [summary, ...(shape.kind === "value" ? takesText(shape.schema, "") : [])].join("\n\n"),
});

function opensOf(shape: Shape): Opens {
  switch (shape.kind) {
    case "map":
      return shape.short === undefined ? "map" : "value";
    case "list":
    case "named_list":
      return "list";
    case "named_map":
      return "map";
    case "value":
      return opensSchema(shape.schema);
    default:
      return "value";
  }
}

/** A list or a map where it can be nothing else. */
function opensSchema(schema: z.ZodType): Opens {
  const { kind } = kindOf(unwrapped(schema));
  return kind === "object" || kind === "record" ? "map" : "value";
}

/** What the keys of a map are names of. */
export function namedKeys(spot: Spot): Reference | undefined {
  const schema = schemaOf(spot);
  const key = schema && keySchemaOf(schema);
  return key && referenceOf(key);
}

const schemaKeys = (schema: z.ZodType): KeyOffer[] =>
  Object.entries(keysOf(schema)).map(([text, below]) => schemaKey(text, below));

const schemaKey = (text: string, schema: z.ZodType): KeyOffer => ({
  kind: "key",
  text,
  opens: opensSchema(schema),
  required: isRequired(schema),
  detail: isRequired(schema) ? "required" : usualWord(schema),
  says: () => [summaryOf(schema), ...takesText(schema, defaultOf(schema))].join("\n\n"),
});

export const summaryOf = (schema: z.ZodType): string =>
  schema.description ?? unwrapped(schema).description ?? "";

/** ` Default: …`, where there is one. */
export function defaultOf(schema: z.ZodType): string {
  const fallback = schema.safeParse(undefined);
  return fallback.success && fallback.data !== undefined ? ` ${defaultText(fallback.data)}` : "";
}

/** What follows a key in a list; nothing for what is long, or for nothing. */
function usualWord(schema: z.ZodType): string {
  const fallback = schema.safeParse(undefined);
  return fallback.success ? defaultWord(fallback.data) : "";
}
export const defaultWord = (value: unknown): string =>
  typeof value === "number" || typeof value === "boolean" || (typeof value === "string" && value !== "")
    ? `default ${value}`
    : "";

/** As a config writes it: `token` without quotes, and nothing for null. */
export const defaultText = (value: unknown): string =>
  value === null
    ? "Default: none."
    : `Default: \`${typeof value === "string" && value !== "" ? value : JSON.stringify(value)}\`.`;

/** A paragraph, or none: that a text takes text says nothing. */
export function takesText(schema: z.ZodType, usual: string): string[] {
  const words = wordsFor(schema);
  const takes = words === "text" ? "" : `Takes ${words}.`;
  const text = `${takes}${usual}`.trim();
  return text === "" ? [] : [text];
}

/** `use` chooses a file of the user's, so these keys of its declaration are not offered. */
const hidden: readonly string[] = ["file", "export"];

function slotKeys(shape: Shape & { kind: "slot" }, spot: Spot): KeyOffer[] {
  const chosen = chosenMethod(spot);
  const own = Object.entries(shape.own).map(([text, field]) => fieldKey(text, field, false));
  const offers = [...choosers(shape), ...(chosen === undefined ? [] : params(chosen)), ...own];
  const unseen = takesFile(shape.slot) && (chosen === undefined || isFile(chosen)) ? hidden : [];
  return offers.filter(
    ({ text }, index) => !unseen.includes(text) && offers.findIndex((other) => other.text === text) === index,
  );
}

const isFile = ({ name }: Declaration): boolean => name === "user" || name === "python";

const chooser = (text: string, summary: string): KeyOffer => ({
  kind: "key",
  text,
  opens: "value",
  required: true,
  says: () => summary,
});

function choosers({ slot }: Shape & { kind: "slot" }): KeyOffer[] {
  if (slot !== "task") return [chooser("use", `Which ${slot.replaceAll("_", " ")} to use.`)];
  return [
    chooser("env", "A built-in environment."),
    chooser("dataset", "A file of tasks."),
    chooser("corpus", "A file of plain text."),
    chooser("harbor", "A folder of Harbor tasks."),
  ];
}

const params = (method: Declaration): KeyOffer[] =>
  Object.entries(method.params.shape).flatMap(([text, schema]) =>
    isSchema(schema) ? [schemaKey(text, schema)] : [],
  );

/** Names that address the items of a list, where a map overrides them. */
function namesAt({ merged }: Spot & { kind: "shape" }, what: "task" | "stage"): KeyOffer[] {
  if (merged?.kind !== "list") return [];
  return merged.items.flatMap((item): KeyOffer[] => {
    const text = nameOf(item, what);
    return text === undefined
      ? []
      : [{ kind: "key", text, opens: "map", required: false, says: () => `The ${what} with this name.` }];
  });
}
