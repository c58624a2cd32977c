/** What is at a position of a document. */
import type { Position, Range } from "../lib/lines.ts";
import type { SourceNode } from "../config/text/node.ts";
import type { Step } from "./spot.ts";

export interface Located {
  /** Down to the key or value the position is in. */
  readonly path: readonly Step[];
  readonly on: "key" | "value";
  readonly range: Range;
  readonly node: SourceNode;
}

const before = (a: Position, b: Position): boolean =>
  a.line < b.line || (a.line === b.line && a.character < b.character);
export const contains = ({ start, end }: Range, at: Position): boolean =>
  !before(at, start) && !before(end, at);

/** The innermost key or value at a position. */
export function locate(node: SourceNode, at: Position, path: readonly Step[] = []): Located | undefined {
  if (node.kind === "map") {
    for (const [key, { key: keyOrigin, value }] of node.entries) {
      if (contains(keyOrigin.range, at) && keyOrigin.range !== value.origin.range)
        return { path: [...path, key], on: "key", range: keyOrigin.range, node: value };
      const below = locate(value, at, [...path, key]);
      if (below !== undefined) return below;
    }
    return undefined;
  }
  if (node.kind === "list") {
    for (const [index, item] of node.items.entries()) {
      const below = locate(item, at, [...path, index]);
      if (below !== undefined) return below;
    }
    return undefined;
  }
  return contains(node.origin.range, at) ? { path, on: "value", range: node.origin.range, node } : undefined;
}
