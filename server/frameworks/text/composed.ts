/** A YAML value after its aliases and merges are resolved. */
import { parseDocument, type Alias, type Document, type Node } from "yaml";
import { aliasesBeyondWords, firstBeyond } from "../../lib/yamlAliases.ts";

/** Nodes that one alias may expand to: a few nested ones would otherwise fill the memory. */
const aliases = 100;

/** Values that all aliases together may expand to: no trainer's file has a hundredth of them. */
const most = 10_000;

/** Whether a document cannot be followed: its aliases would fill the memory, or one of them holds itself. */
export const standsForTooMuch = (document: Document | Document.Parsed): boolean =>
  aliasBeyond(document) !== undefined;

/** The alias that exceeds the limit. */
export const aliasBeyond = (document: Document | Document.Parsed): Alias | undefined =>
  firstBeyond(document, most);

export const tooManyAliases = aliasesBeyondWords(most);

export const aliasesBeyond = (text: string): boolean =>
  standsForTooMuch(parseDocument(text, { logLevel: "silent", uniqueKeys: false }));

/** undefined if they cannot be resolved: a merge (`<<`) of something other than a map, an alias without an anchor, too many aliases. */
export function composed(document: Document | Document.Parsed): unknown {
  return standsForTooMuch(document)
    ? undefined
    : unlessRefused(() => document.toJS({ maxAliasCount: aliases }));
}

/** One node, whose anchors are in the document. */
export const composedNode = (node: Node): unknown => unlessRefused(() => node.toJSON());

function unlessRefused(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    // Half-typed text: its value is unknown, so it gets no diagnostic.
    if (error instanceof Error) return undefined;
    throw error;
  }
}
