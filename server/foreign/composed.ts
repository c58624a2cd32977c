/** What YAML holds once its aliases and merges are followed. */
import type { Document, Node } from "yaml";

/** Nodes that one alias may stand for: a few nested ones would otherwise fill the memory. */
const aliases = 100;

/** undefined where they cannot be: a merge (`<<`) of what is no map, an alias of nothing, too many of them. */
export function composed(document: Document | Document.Parsed): unknown {
  return unlessRefused(() => document.toJS({ maxAliasCount: aliases }));
}

/** Of one node, which knows its anchors only through the document. */
export const composedNode = (node: Node): unknown => unlessRefused(() => node.toJSON());

function unlessRefused(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    // Half-written text: what it would hold is not known, and nothing is said of it.
    if (error instanceof Error) return undefined;
    throw error;
  }
}
