/** Where in the grammar a path of a document leads: what may be written there, and what it means. */
import type { z } from "zod";
import { methodOf, methods } from "../methods.ts";
import type { Declaration, SlotName } from "../config/declaration.ts";
import { grammar } from "../config/grammar.ts";
import { chosenOf, longForm, nameOf } from "../config/method.ts";
import { child, type SourceNode } from "../config/node.ts";
import type { Shape } from "../config/shape.ts";
import { isSchema, keysOf, unwrapped, wordsOf } from "../config/values.ts";

export type Step = string | number;

/** `summary` is what the key that led here says. */
export type Spot =
  | {
      readonly kind: "shape";
      readonly shape: Shape;
      readonly summary: string;
      readonly node: SourceNode | undefined;
      readonly merged: SourceNode | undefined;
    }
  | { readonly kind: "schema"; readonly schema: z.ZodType; readonly summary: string }
  /** The value of `use` or `env`. */
  | { readonly kind: "method"; readonly slot: SlotName; readonly summary: string };

export const rootSpot = (node: SourceNode | undefined, merged: SourceNode | undefined): Spot => ({
  kind: "shape",
  shape: grammar,
  summary: "",
  node,
  merged,
});

/** One step down; undefined where the grammar knows nothing of the key. */
export function stepInto(spot: Spot, step: Step): Spot | undefined {
  if (spot.kind === "method") return undefined;
  if (spot.kind === "schema") return intoSchema(spot.schema, step);
  const { shape, node, merged } = spot;
  const below = { node: childOf(node, step), merged: childOf(merged, step) };
  switch (shape.kind) {
    case "map": {
      const field = shape.fields[String(step)];
      return field === undefined
        ? undefined
        : { kind: "shape", shape: field.shape, summary: field.summary, ...below };
    }
    case "slot":
      return intoSlot(shape, step, spot, below);
    case "list":
    case "named_list":
    case "named_map":
      return { kind: "shape", shape: shape.item, summary: spot.summary, ...below };
    case "value":
      return intoSchema(shape.schema, step);
    case "path":
    case "later":
      return undefined;
  }
}

export const spotAt = (
  path: readonly Step[],
  node: SourceNode | undefined,
  merged: SourceNode | undefined,
): Spot | undefined =>
  path.reduce<Spot | undefined>(
    (spot, step, index) => {
      const below = spot === undefined ? undefined : stepInto(spot, step);
      // A stage inherits the blocks of the top level.
      return index === 1 && path[0] === "stages" && below?.kind === "shape" ? { ...below, merged } : below;
    },
    rootSpot(node, merged),
  );

function intoSlot(
  shape: Shape & { kind: "slot" },
  step: Step,
  spot: Spot & { kind: "shape" },
  below: { node: SourceNode | undefined; merged: SourceNode | undefined },
): Spot | undefined {
  const key = String(step);
  const own = shape.own[key];
  if (own !== undefined) return { kind: "shape", shape: own.shape, summary: own.summary, ...below };
  if (key === "use" || (key === "env" && shape.slot === "task"))
    return { kind: "method", slot: shape.slot, summary: `Which ${shape.slot.replaceAll("_", " ")}.` };
  const schema = chosenMethod(spot)?.params.shape[key];
  return isSchema(schema)
    ? { kind: "schema", schema, summary: schema.description ?? unwrapped(schema).description ?? "" }
    : undefined;
}

function intoSchema(schema: z.ZodType, step: Step): Spot | undefined {
  const below = keysOf(schema)[String(step)];
  return below === undefined
    ? undefined
    : { kind: "schema", schema: below, summary: below.description ?? unwrapped(below).description ?? "" };
}

/** By index, by key, or, in a list of named things, by name. */
function childOf(node: SourceNode | undefined, step: Step): SourceNode | undefined {
  if (node?.kind !== "list") return child(node, String(step));
  if (typeof step === "number") return node.items[step];
  return node.items.find((item) => nameOf(item, "task") === step || nameOf(item, "stage") === step);
}

/** The method in force: the document's own choice, else the one it inherits. */
export function chosenMethod(spot: Spot): Declaration | undefined {
  if (spot.kind !== "shape" || spot.shape.kind !== "slot") return undefined;
  const { slot } = spot.shape;
  for (const node of [spot.node, spot.merged]) {
    const long = node === undefined ? undefined : longForm(node, slot);
    const chosen = long?.kind === "map" ? chosenOf(long, slot) : undefined;
    const declaration = chosen === undefined ? undefined : methodOf(slot, chosen.method);
    if (declaration !== undefined) return declaration;
  }
  return undefined;
}

export interface Offer {
  readonly text: string;
  readonly detail: string;
}

/** Keys that may be written in the map at a spot. */
export function keysAt(spot: Spot): Offer[] {
  if (spot.kind === "method") return [];
  if (spot.kind === "schema") return schemaKeys(spot.schema);
  const { shape } = spot;
  if (shape.kind === "map")
    return Object.entries(shape.fields).map(([text, { summary }]) => ({ text, detail: summary }));
  if (shape.kind === "value") return schemaKeys(shape.schema);
  if (shape.kind !== "slot") return namesAt(spot);
  const use =
    shape.slot === "task"
      ? [
          { text: "env", detail: "A built-in environment." },
          { text: "dataset", detail: "A file of tasks." },
        ]
      : [{ text: "use", detail: "The method." }];
  const params = Object.entries(chosenMethod(spot)?.params.shape ?? {}).flatMap(([text, schema]) =>
    isSchema(schema) ? [{ text, detail: schema.description ?? unwrapped(schema).description ?? "" }] : [],
  );
  const own = Object.entries(shape.own).map(([text, { summary }]) => ({ text, detail: summary }));
  const hidden = new Set(chosenMethod(spot)?.slot === "reward" ? ["file", "export"] : []);
  return [...use, ...params.filter(({ text }) => !hidden.has(text)), ...own].filter(
    ({ text }, index, all) => all.findIndex((other) => other.text === text) === index,
  );
}

const schemaKeys = (schema: z.ZodType): Offer[] =>
  Object.entries(keysOf(schema)).map(([text, below]) => ({ text, detail: below.description ?? "" }));

/** Names that address the items of a list, where the document overrides them by a map. */
function namesAt(spot: Spot & { kind: "shape" }): Offer[] {
  if (spot.shape.kind !== "named_list" || spot.merged?.kind !== "list") return [];
  const { what } = spot.shape;
  return spot.merged.items.flatMap((item) => {
    const text = nameOf(item, what);
    return text === undefined ? [] : [{ text, detail: `The ${what} of this name.` }];
  });
}

/** Words that may stand as the value at a spot. */
export function valuesAt(spot: Spot): Offer[] {
  if (spot.kind === "method") return methodsOf(spot.slot);
  if (spot.kind === "schema") return wordsOf(spot.schema).map((text) => ({ text, detail: "" }));
  const { shape } = spot;
  if (shape.kind === "slot") return methodsOf(shape.slot);
  if (shape.kind === "path") return shape.words.map((text) => ({ text, detail: "" }));
  return shape.kind === "value" ? wordsOf(shape.schema).map((text) => ({ text, detail: "" })) : [];
}

const methodsOf = (slot: SlotName): Offer[] =>
  methods
    .filter((method) => method.slot === slot && !["user", "python"].includes(method.name))
    .filter(({ name }) => slot !== "task" || name !== "dataset")
    .map(({ name, summary }) => ({ text: name, detail: summary }));
