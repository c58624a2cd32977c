/** Where in a config each slot is, read off the grammar. */
import type { SlotName } from "../../core/declaration.ts";
import { grammar } from "../../config/grammar/grammar.ts";
import type { Fields, Shape } from "../../core/blocks/field.ts";

export interface SlotKey {
  /** As a config writes it: `curriculum.sampler`, `kl[].estimator`, `reward.terms.<name>`. */
  readonly path: string;
  readonly summary: string;
  /** Keys besides the method's own, which stay when the method changes. */
  readonly own: Fields;
}

/** The places of every slot that a config can choose. Stages and `models` repeat the top level's blocks and are left out. */
export function slotKeys(): ReadonlyMap<SlotName, SlotKey> {
  const found = new Map<SlotName, SlotKey>();
  const { stages: _, models: __, ...top } = grammar.fields;
  inFields(top, "", found);
  return found;
}

function inFields(fields: Fields, above: string, found: Map<SlotName, SlotKey>): void {
  for (const [key, { shape, summary }] of Object.entries(fields))
    inShape(shape, above === "" ? key : `${above}.${key}`, summary, found);
}

function inShape(shape: Shape, path: string, summary: string, found: Map<SlotName, SlotKey>): void {
  switch (shape.kind) {
    case "map":
      return inFields(shape.fields, path, found);
    case "slot":
      if (!found.has(shape.slot)) found.set(shape.slot, { path, summary, own: shape.own });
      return inFields(shape.own, path, found);
    case "list":
    case "named_list":
      return inShape(shape.item, `${path}[]`, summary, found);
    case "named_map":
      return inShape(shape.item, `${path}.<name>`, summary, found);
    case "value":
    case "path":
    case "later":
      return;
  }
}
