/** What a value may be, in plain words. */
import { z } from "zod";
import type { SourceNode } from "../text/node.ts";
import { listed } from "../../lib/suggest.ts";

interface Described {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly exclusiveMaximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: Described | false;
  readonly prefixItems?: readonly Described[];
  readonly anyOf?: readonly Described[];
  readonly oneOf?: readonly Described[];
  readonly properties?: Readonly<Record<string, Described>>;
  readonly minLength?: number;
}

/** The JSON Schema of a value is complete but for what only code can check. */
export const jsonSchemaOf = (schema: z.ZodType): Described =>
  z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as Described;

/** zod writes the range of safe integers into every integer. */
const bound = (value: number | undefined): number | undefined =>
  value === undefined || Math.abs(value) >= Number.MAX_SAFE_INTEGER ? undefined : value;

function range(described: Described): string {
  const low = bound(described.minimum);
  const above = bound(described.exclusiveMinimum);
  const high = bound(described.maximum);
  const below = bound(described.exclusiveMaximum);
  if (low !== undefined && high !== undefined) return ` from ${low} to ${high}`;
  const start = low !== undefined ? ` of at least ${low}` : above !== undefined ? ` above ${above}` : "";
  const end = high !== undefined ? `at most ${high}` : below !== undefined ? `below ${below}` : "";
  if (end === "") return start;
  return start === "" ? ` of ${end}` : `${start} and ${end}`;
}

/** `a whole number of at least 1`, `a number or a schedule`, `` `auto`, `native` or `wasm` ``. */
export const wordsFor = (schema: z.ZodType): string => describe(jsonSchemaOf(schema));

function describe(described: Described): string {
  if (described.const !== undefined) return `\`${String(described.const)}\``;
  if (described.enum !== undefined) return listed(described.enum.map(String));
  const options = described.anyOf ?? described.oneOf;
  if (options !== undefined) return [...new Set(options.map(describe))].join(" or ");
  switch (described.type) {
    case "integer":
      return `a whole number${range(described)}`;
    case "number":
      return `a number${range(described)}`;
    case "string":
      return described.minLength === undefined ? "text" : "text that is not empty";
    case "boolean":
      return "`true` or `false`";
    case "null":
      return "nothing";
    case "array":
      return listWords(described);
    case "object":
      return objectWords(described);
    default:
      return "a value";
  }
}

function listWords({ prefixItems, items, minItems }: Described): string {
  if (prefixItems !== undefined)
    return `a list of ${prefixItems.length}: ${prefixItems.map(describe).join(", ")}`;
  const what = items === undefined || items === false ? "" : ` whose items are ${describe(items)}`;
  return minItems === undefined ? `a list${what}` : `a list of at least ${minItems}${what}`;
}

function objectWords({ properties }: Described): string {
  const keys = Object.keys(properties ?? {});
  if (keys.includes("schedule")) return "a schedule `{ schedule: linear, from: 0, to: 1, over: 100 }`";
  return keys.length === 0 ? "a map" : `a map of ${listed(keys)}`;
}

/** What somebody wrote, for "…, not …". */
export function written(node: SourceNode): string {
  if (node.kind === "list") return node.items.length === 0 ? "an empty list" : "a list";
  if (node.kind === "map") return "a map";
  if (node.value === null) return "nothing";
  if (typeof node.value === "string" && node.value !== "" && !Number.isNaN(Number(node.value)))
    return `the text "${node.value}"`;
  return typeof node.value === "string"
    ? `\`${node.value.length > 40 ? `${node.value.slice(0, 40)}…` : node.value}\``
    : String(node.value);
}
