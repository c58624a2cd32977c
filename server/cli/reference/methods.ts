/** One page a slot: every method with its formula, parameters and sources, as its declaration has it. */
import { isObject, type JsonObject } from "../../../shared/lib/json.ts";
import type { Declaration, SlotName } from "../../core/declaration.ts";
import { paramsSchema } from "../../config/grammar/jsonSchema.ts";
import type { Fields } from "../../core/blocks/field.ts";
import { wordsFor } from "../../config/grammar/words.ts";
import { methods } from "../../methods/index.ts";
import { code, page, prose, table } from "./markdown.ts";
import { slotKeys, type SlotKey } from "./places.ts";

/** File name → text. */
export function methodPages(): ReadonlyMap<string, string> {
  const where = slotKeys();
  const slots = [...new Set(methods.map(({ slot }) => slot))];
  return new Map([
    ["README.md", indexPage(slots, where)],
    ...slots.map((slot): [string, string] => [`${slot}.md`, slotPage(slot, where.get(slot))]),
  ]);
}

const titleOf = (slot: SlotName): string => slot.replaceAll("_", " ");
const methodsOf = (slot: SlotName): readonly Declaration[] =>
  methods.filter((method) => method.slot === slot);

function indexPage(slots: readonly SlotName[], where: ReadonlyMap<SlotName, SlotKey>): string {
  return page([
    "# Methods",
    "A slot is an independent choice of the config; a method is one way to fill it. `gradus methods SLOT` prints a slot's page.",
    table(
      ["slot", "key of the config", "is", "methods"],
      slots.map((slot) => [
        `[${titleOf(slot)}](${slot}.md)`,
        keyOf(where.get(slot)),
        where.get(slot)?.summary ?? "",
        methodsOf(slot)
          .map(({ name }) => `[${name}](${slot}.md#${name})`)
          .join(", "),
      ]),
    ),
  ]);
}

const keyOf = (place: SlotKey | undefined): string => (place === undefined ? "—" : code(place.path));

/** The page of one slot, without its note to those who would edit it. */
export const slotPageOf = (slot: SlotName): string =>
  slotPage(slot, slotKeys().get(slot))
    .replace(/^<!--.*-->\s*/, "")
    .trimEnd();

function slotPage(slot: SlotName, place: SlotKey | undefined): string {
  const own = Object.entries(place?.own ?? {}).length > 0 ? place?.own : undefined;
  return page([
    `# ${titleOf(slot)}`,
    place === undefined ? "No key of the config chooses it yet." : `${code(place.path)}: ${place.summary}`,
    chosenBy(slot),
    own === undefined ? undefined : `Next to the method's own parameters it takes:\n\n${ownTable(own)}`,
    ...methodsOf(slot).flatMap(section),
    "[All slots](README.md)",
  ]);
}

const chosenBy = (slot: SlotName): string =>
  slot === "task"
    ? "Chosen with `env: <method>`, or, for a file of your own, with `dataset: <path>`."
    : "Chosen with `use: <method>`, or by the method's name alone where it needs no parameters.";

function ownTable(own: Fields): string {
  return table(
    ["key", "takes", "meaning"],
    Object.entries(own).map(([key, { shape, summary }]) => [
      code(key),
      shape.kind === "value"
        ? wordsFor(shape.schema)
        : shape.kind === "slot"
          ? `[${titleOf(shape.slot)}](${shape.slot}.md)`
          : "",
      summary,
    ]),
  );
}

function section(method: Declaration): (string | undefined)[] {
  const { name, aliases = [], summary, formula, sources, status = "exact" } = method;
  return [
    `## ${name}`,
    prose(summary),
    isFile(method) ? fileUse(method) : undefined,
    formula === undefined ? undefined : code(formula),
    aliases.length === 0 ? undefined : `Also called ${aliases.map(code).join(", ")}.`,
    parameters(method),
    sources.length === 0 ? undefined : `Sources: ${prose(sources.join("; "))}.`,
    status === "exact"
      ? undefined
      : "Status: approximate. The source's formula could not be confirmed in every part.",
  ];
}

/** A reward in a file of the user's: `use` is its path, from which file and function are read. */
const isFile = ({ slot, name }: Declaration): boolean =>
  slot === "reward" && (name === "user" || name === "python");

const fileUse = ({ name, params }: Declaration): string =>
  `Chosen with ${code(`use: ./rewards/name.${name === "python" ? "py" : "ts"}:function`)}; without \`:function\` it is ${code(String(params.shape["export"]?.safeParse(undefined).data))}.`;

function parameters(method: Declaration): string {
  const keys = Object.keys(method.params.shape).filter(
    (key) => !isFile(method) || (key !== "file" && key !== "export"),
  );
  if (keys.length === 0) return "No parameters.";
  return table(
    ["parameter", "takes", "default", "schedule", "meaning"],
    keys.map((key) => parameterRow(method, key)),
  );
}

function parameterRow(method: Declaration, key: string): string[] {
  const property = propertyOf(method, key);
  return [
    code(key),
    takes(property, method, key),
    "default" in property
      ? code(JSON.stringify(property["default"]))
      : isRequired(method, key)
        ? "required"
        : "none",
    property["schedulable"] === true ? "yes" : "no",
    typeof property["description"] === "string" ? property["description"] : "",
  ];
}

/** A schedule has a column of its own. */
function takes(property: JsonObject, method: Declaration, key: string): string {
  const schema = method.params.shape[key];
  if (schema === undefined) return "";
  const words = wordsFor(schema);
  return property["schedulable"] === true ? words.replace(/ or a schedule `.*`$/, "") : words;
}

function propertyOf(method: Declaration, key: string): JsonObject {
  const properties = paramsSchema(method)["properties"];
  const property = isObject(properties) ? properties[key] : undefined;
  if (!isObject(property)) throw new Error(`${method.slot} ${method.name} has no schema for ${key}`);
  return property;
}

function isRequired(method: Declaration, key: string): boolean {
  const required = paramsSchema(method)["required"];
  return Array.isArray(required) && required.includes(key);
}
