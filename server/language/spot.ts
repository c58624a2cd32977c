/** Where in the grammar a path of a document leads: what may be written there, and what it means. */
import type { z } from "zod";
import { methodOf } from "../methods/index.ts";
import type { Declaration, SlotName } from "../core/declaration.ts";
import { grammar } from "../config/grammar/grammar.ts";
import { chosenOf, longForm, nameOf } from "../config/check/method.ts";
import { child, type SourceNode } from "../config/text/node.ts";
import type { Shape } from "../core/blocks/field.ts";
import { isSchema, keysOf, kindOf, unwrapped } from "../config/check/values.ts";

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

/** The slot of which a method is chosen there. */
export function slotOf(spot: Spot | undefined): SlotName | undefined {
  if (spot?.kind === "method") return spot.slot;
  return spot?.kind === "shape" && spot.shape.kind === "slot" ? spot.shape.slot : undefined;
}

/** The schema of the value there; undefined: it is more than a value. */
export function schemaOf(spot: Spot): z.ZodType | undefined {
  if (spot.kind === "schema") return spot.schema;
  return spot.kind === "shape" && spot.shape.kind === "value" ? spot.shape.schema : undefined;
}

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
    return { kind: "method", slot: shape.slot, summary: `Which ${shape.slot.replaceAll("_", " ")} to use.` };
  const schema = chosenMethod(spot)?.params.shape[key];
  return isSchema(schema)
    ? { kind: "schema", schema, summary: schema.description ?? unwrapped(schema).description ?? "" }
    : undefined;
}

function intoSchema(schema: z.ZodType, step: Step): Spot | undefined {
  const below = keysOf(schema)[String(step)] ?? elementOf(schema, step);
  return below === undefined
    ? undefined
    : { kind: "schema", schema: below, summary: below.description ?? unwrapped(below).description ?? "" };
}

/** What the items of a list, or the values of a map of free keys, are. */
function elementOf(schema: z.ZodType, step: Step): z.ZodType | undefined {
  const kind = kindOf(unwrapped(schema));
  if (kind.kind === "array") return kind.element;
  if (kind.kind === "tuple") return kind.items[Number(step)];
  if (kind.kind === "record") return typeof step === "string" ? kind.value : undefined;
  if (kind.kind !== "union") return undefined;
  for (const option of kind.options) {
    const element = elementOf(option, step);
    if (element !== undefined) return element;
  }
  return undefined;
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
