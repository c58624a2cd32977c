/** What YAML holds once its aliases and merges are followed. */
import { parseDocument, type Alias, type Document, type Node } from "yaml";
import { aliasesBeyondWords, firstBeyond } from "../lib/yamlAliases.ts";

/** Nodes that one alias may stand for: a few nested ones would otherwise fill the memory. */
const aliases = 100;

/** Values that all aliases together may stand for: no trainer's file has a hundredth of them. */
const most = 10_000;

/** Whether a document cannot be followed: its aliases would fill the memory, or one of them holds itself. */
export const standsForTooMuch = (document: Document | Document.Parsed): boolean =>
  aliasBeyond(document) !== undefined;

/** The alias with which it is too much. */
export const aliasBeyond = (document: Document | Document.Parsed): Alias | undefined =>
  firstBeyond(document, most);

export const tooManyAliases = aliasesBeyondWords(most);

export const aliasesBeyond = (text: string): boolean =>
  standsForTooMuch(parseDocument(text, { logLevel: "silent", uniqueKeys: false }));

/** undefined where they cannot be: a merge (`<<`) of what is no map, an alias of nothing, too many of them. */
export function composed(document: Document | Document.Parsed): unknown {
  return standsForTooMuch(document)
    ? undefined
    : unlessRefused(() => document.toJS({ maxAliasCount: aliases }));
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
