/** The JSON Schema of a config, for editors and tools that know nothing of Gradus: made from the same grammar. */
import { z } from "zod";
import type { Json, JsonObject } from "../../../shared/lib/json.ts";
import { methods } from "../../methods/index.ts";
import type { Declaration, SlotName } from "../../core/declaration.ts";
import { grammar } from "./grammar.ts";
import { isObject } from "../../core/templates.ts";
import { takesFile, taskFileKeys } from "../check/method.ts";
import { withDefinitions } from "./schemaDefinitions.ts";
import { perObject } from "../../lib/perObject.ts";
import type { Fields, Shape } from "../../core/blocks/field.ts";

/**
 * zod's own JSON Schema of a part, fit to be inside a larger one: a recursive type would refer to definitions at
 * its root, and the only one there is means any JSON value.
 */
function standalone(schema: z.ZodType): JsonObject {
  const { $schema: _, $defs: __, ...rest } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  const text = JSON.stringify(rest, (_key, value: unknown) => (isReference(value) ? {} : value));
  return JSON.parse(text);
}

const isReference = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "$ref" in value;

/** Parameters of a method as JSON Schema, as a config writes them. */
export const paramsSchema = perObject((declaration: Declaration): JsonObject => ({
  ...standalone(declaration.params),
  additionalProperties: false,
}));

export function configSchema(): JsonObject {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Gradus config",
    description: "The curriculum, rewards and training of a language-model policy.",
    ...withDefinitions(shapeSchema(grammar)),
  };
}

const fieldsSchema = perObject((fields: Fields): JsonObject =>
  Object.fromEntries(
    Object.entries(fields).map(([key, { shape, summary }]) => [
      key,
      { description: summary, anyOf: [shapeSchema(shape), { type: "null" }] },
    ]),
  ),
);

/** A shape's schema is one object wherever it stands, so that `withDefinitions` reads it once. */
const shapeSchema = perObject((shape: Shape): JsonObject => {
  switch (shape.kind) {
    case "map":
      return orShort(shape.short !== undefined, {
        type: "object",
        properties: fieldsSchema(shape.fields),
        additionalProperties: false,
      });
    case "slot":
      return slotSchema(shape.slot, shape.own);
    case "list":
      return { type: "array", items: shapeSchema(shape.item) };
    case "named_list":
      // Over an earlier list, a map addresses its items by name and may write any part of them.
      return {
        anyOf: [
          { type: "array", items: shapeSchema(shape.item) },
          { type: "object", description: `Overrides of earlier ${shape.what}s by name.` },
        ],
      };
    case "named_map":
      return { type: "object", additionalProperties: { anyOf: [shapeSchema(shape.item), { type: "null" }] } };
    case "value":
      return standalone(shape.schema);
    case "path":
      return { type: "string" };
    case "later":
      return {
        anyOf: [{ type: "object", maxProperties: 0 }, { type: "array", maxItems: 0 }, { type: "null" }],
      };
  }
});

const orShort = (short: boolean, schema: JsonObject): JsonObject =>
  short ? { anyOf: [{ type: "string" }, schema] } : schema;

/** One form per method, distinguished by the key that names it; overrides that keep the earlier method name none. */
function slotSchema(slot: SlotName, own: Fields): JsonObject {
  const all = methods.filter((method) => method.slot === slot);
  const names = all.flatMap((method) => [method.name, ...(method.aliases ?? [])]);
  const options = all
    .filter(({ name }) => name !== "user" && name !== "python")
    .map((method) => methodSchema(method, own));
  const parameters = Object.assign({}, ...all.map((method) => properties(paramsSchema(method))));
  const override = {
    type: "object",
    description: "Parameters that override those of an earlier choice.",
    properties: { ...relaxed(parameters), ...fieldsSchema(own) },
    additionalProperties: false,
  };
  const files = takesFile(slot) ? userSchemas(all, own) : [];
  const short = takesFile(slot) ? [{ type: "string" }] : [{ type: "string", enum: names }];
  return { anyOf: [...short, ...options, ...files, override] };
}

const relaxed = (parameters: Readonly<Record<string, Json>>): JsonObject =>
  Object.fromEntries(Object.keys(parameters).map((key) => [key, true]));

const properties = ({ properties: found }: JsonObject): JsonObject => (isObject(found) ? found : {});

function methodSchema(method: Declaration, own: Fields): JsonObject {
  const schema = paramsSchema(method);
  const byItself = method.name === "generated" ? "generate" : taskFileKeys.find((one) => one === method.name);
  const key = method.slot === "task" ? (byItself === undefined ? "env" : undefined) : "use";
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  return {
    type: "object",
    title: method.name,
    description: method.summary,
    properties: {
      ...(key === undefined ? {} : { [key]: { enum: [method.name, ...(method.aliases ?? [])] } }),
      ...properties(schema),
      ...fieldsSchema(own),
    },
    required: [...new Set([key ?? byItself ?? method.name, ...required])],
    additionalProperties: false,
  };
}

/** How `use` is written for a method in a file of the user's. */
const filePatterns: Readonly<Record<string, readonly string[]>> = {
  python: ["\\.py(:\\w+)?$", "\\.ipynb(:\\w+)?$"],
  user: ["\\.[cm]?[jt]s(:[\\w$]+)?$"],
};

/** A method in a file of the user's: `use` is its path. */
function userSchemas(all: readonly Declaration[], own: Fields): JsonObject[] {
  return all.flatMap((method) => {
    const { file: _, export: __, ...parameters } = properties(paramsSchema(method));
    return (filePatterns[method.name] ?? []).map((pattern) => ({
      type: "object",
      title: method.name,
      description: method.summary,
      properties: { use: { type: "string", pattern }, ...parameters, ...fieldsSchema(own) },
      required: ["use"],
      additionalProperties: false,
    }));
  });
}
