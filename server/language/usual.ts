/** The defaults of keys. */
import { defaultOrigin } from "../config/check/check.ts";
import { defaults, grammar } from "../config/grammar/grammar.ts";
import { child, fromJson, type SourceNode } from "../config/text/node.ts";
import type { Shape } from "../core/blocks/field.ts";
import type { Step } from "./spot.ts";

const top = fromJson(defaults, defaultOrigin);

/** A stage inherits the top level's; what is written in an item of a list or of a map of names has the item's. */
export function usualAt(path: readonly Step[]): SourceNode | undefined {
  const own = path[0] === "stages" ? path.slice(2) : path;
  let [shape, node]: [Shape | undefined, SourceNode | undefined] = [grammar, top];
  for (const step of own) {
    const inside = shape?.kind === "map" || shape?.kind === "slot" ? shape.defaults : undefined;
    node = child(inside === undefined ? node : fromJson(inside, defaultOrigin), String(step));
    shape = below(shape, String(step));
  }
  return node;
}

function below(shape: Shape | undefined, key: string): Shape | undefined {
  switch (shape?.kind) {
    case "map":
      return shape.fields[key]?.shape;
    case "slot":
      return shape.own[key]?.shape;
    case "list":
    case "named_list":
    case "named_map":
      return shape.item;
    default:
      return undefined;
  }
}
