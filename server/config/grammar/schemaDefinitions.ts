/** Parts of a JSON Schema that are large or stand in several places, written once and referred to: `$defs`. */
import type { Json, JsonObject } from "../../../shared/lib/json.ts";

/** Characters from which on a part that is repeated is worth a definition, and one that is not. */
const repeated = 300;
const large = 4_000;

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The same schema; a part is called after the key that it is for. */
export function withDefinitions(schema: JsonObject): JsonObject {
  const counts = new Map<string, number>();
  count(schema, counts);
  const definitions = new Definitions(counts);
  const root = definitions.inside(schema);
  return { ...root, $defs: definitions.found };
}

function count(value: Json | undefined, counts: Map<string, number>): void {
  if (Array.isArray(value)) for (const each of value) count(each, counts);
  if (!isObject(value)) return;
  const text = JSON.stringify(value);
  if (text.length < repeated) return;
  const seen = counts.get(text) ?? 0;
  counts.set(text, seen + 1);
  // What is inside of the second one will be referred to as a whole.
  if (seen === 0) for (const each of Object.values(value)) count(each, counts);
}

class Definitions {
  readonly found: Record<string, Json> = {};
  private readonly names = new Map<string, string>();

  constructor(private readonly counts: ReadonlyMap<string, number>) {}

  inside(schema: JsonObject): JsonObject {
    const { properties, anyOf, items, additionalProperties, ...rest } = schema;
    return {
      ...rest,
      ...(isObject(properties) ? { properties: this.members(properties) } : {}),
      ...(Array.isArray(anyOf) ? { anyOf: anyOf.map((option) => this.part("", option)) } : {}),
      ...(items === undefined ? {} : { items: this.part("item", items) }),
      ...(additionalProperties === undefined
        ? {}
        : { additionalProperties: this.part("value", additionalProperties) }),
    };
  }

  private members(properties: JsonObject): JsonObject {
    return Object.fromEntries(
      Object.entries(properties).map(([key, schema]) => [key, this.part(key, schema)]),
    );
  }

  private part(key: string, schema: Json | undefined): Json {
    if (!isObject(schema)) return schema ?? true;
    const text = JSON.stringify(schema);
    const defined = text.length >= large || (this.counts.get(text) ?? 0) > 1;
    if (!defined) return this.inside(schema);
    let name = this.names.get(text);
    if (name === undefined) {
      name = this.fresh(typeof schema["title"] === "string" ? schema["title"] : key || "part");
      this.names.set(text, name);
      this.found[name] = true;
      this.found[name] = this.inside(schema);
    }
    return { $ref: `#/$defs/${name}` };
  }

  private fresh(base: string): string {
    let name = base;
    for (let n = 2; name in this.found; n++) name = `${base}-${n}`;
    return name;
  }
}
