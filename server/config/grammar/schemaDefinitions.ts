/** Parts of a JSON Schema that are large or used in several places, written once and referred to: `$defs`. */
import type { Json, JsonObject } from "../../../shared/lib/json.ts";
import { isObject } from "../../core/templates.ts";
import { perObject } from "../../lib/perObject.ts";

/** Characters from which on a part that is repeated is worth a definition, and one that is not. */
const repeated = 300;
const large = 4_000;

/** The same schema; a part is called after the key that it is for. */
export function withDefinitions(schema: JsonObject): JsonObject {
  const definitions = new Definitions();
  definitions.count(schema);
  const root = definitions.inside(schema);
  return { ...root, $defs: definitions.found };
}

class Definitions {
  readonly found: Record<string, Json> = {};
  private readonly names = new Map<string, string>();
  private readonly counts = new Map<string, number>();
  private readonly ids = new Map<string, string>();
  /**
   * `id`: the same for equal parts. It follows from a part's own text, in which ids stand for the parts inside: written
   * out, they are megabytes many times over. `length`: characters of the whole part as JSON.
   */
  private readonly partOf = perObject(
    (value: JsonObject): { readonly id: string; readonly length: number } => {
      let more = 0;
      const text = JSON.stringify(value, (_key, inner: Json) => {
        if (inner === value || !isObject(inner)) return inner;
        const part = this.partOf(inner);
        more += part.length - JSON.stringify(part.id).length;
        return part.id;
      });
      const id = this.ids.get(text) ?? `#/parts/${this.ids.size}`;
      this.ids.set(text, id);
      return { id, length: text.length + more };
    },
  );

  count(value: Json | undefined): void {
    if (Array.isArray(value)) for (const each of value) this.count(each);
    if (!isObject(value)) return;
    const { id, length } = this.partOf(value);
    if (length < repeated) return;
    const seen = this.counts.get(id) ?? 0;
    this.counts.set(id, seen + 1);
    // What is inside of the second one will be referred to as a whole.
    if (seen === 0) for (const each of Object.values(value)) this.count(each);
  }

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
    const { id, length } = this.partOf(schema);
    const defined = length >= large || (this.counts.get(id) ?? 0) > 1;
    if (!defined) return this.inside(schema);
    let name = this.names.get(id);
    if (name === undefined) {
      name = this.fresh(typeof schema["title"] === "string" ? schema["title"] : key || "part");
      this.names.set(id, name);
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
