/** Every value of a document with what the grammar says of its place. */
import type { Range } from "../lib/lines.ts";
import type { SourceNode } from "../config/text/node.ts";
import { rootSpot, stepInto, type Spot, type Step } from "./spot.ts";

export interface Visit {
  /** Keys and indexes from the top down to here. */
  readonly path: readonly Step[];
  /** Of the key that leads here; undefined for the items of a list and the root. */
  readonly key: Range | undefined;
  readonly node: SourceNode;
  /** undefined where the grammar knows nothing of the place. */
  readonly spot: Spot | undefined;
  readonly parent: Visit | undefined;
}

/** What an alias or `<<` repeats is visited again, at the anchor's place. `merged` is the config with all that it inherits: it gives methods chosen elsewhere. */
export function* visits(root: SourceNode, merged: SourceNode | undefined): Generator<Visit> {
  yield* below(
    { path: [], key: undefined, node: root, spot: rootSpot(root, merged), parent: undefined },
    merged,
  );
}

function* below(visit: Visit, merged: SourceNode | undefined): Generator<Visit> {
  yield visit;
  const { node } = visit;
  if (node.kind === "map")
    for (const [name, { key, value }] of node.entries)
      yield* below(inner(visit, name, key.range, value, merged), merged);
  if (node.kind === "list")
    for (const [index, item] of node.items.entries())
      yield* below(inner(visit, index, undefined, item, merged), merged);
}

function inner(
  parent: Visit,
  step: Step,
  key: Range | undefined,
  node: SourceNode,
  merged: SourceNode | undefined,
): Visit {
  const path = [...parent.path, step];
  const spot = parent.spot === undefined ? undefined : stepInto(parent.spot, step);
  // A stage inherits the blocks of the top level.
  const inherits = path.length === 2 && path[0] === "stages" && spot?.kind === "shape";
  return { path, key, node, spot: inherits ? { ...spot, merged } : spot, parent };
}

/** The last of the keys on a path, indexes left out. */
export const lastKey = (path: readonly Step[]): string | undefined =>
  path.filter((step) => typeof step === "string").at(-1);
