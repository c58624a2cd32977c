import type { Origin } from "../config/text/node.ts";
import type { StageView } from "../config/check/model.ts";
import { keyOf, placeOf } from "./rule.ts";

/** Where the stage itself wrote a value; where it has it from the top level, its kind, which is what asks for another. */
export function placeIn({ body, written }: StageView, ...path: readonly string[]): Origin | undefined {
  const at = placeOf(body, ...path);
  return at?.stage === undefined ? (placeOf(written, "kind") ?? keyOf(written, "name") ?? at) : at;
}
