/**
 * A text that somebody is writing, as a tree: whatever is wrong with it costs no more than the place where it is.
 * Indentation says what belongs to what; a bracket or quote that nothing closes ends where its block does; a line
 * that makes no sense is passed over. Of a text without errors it is the tree that the real parser makes.
 */
import { dirname } from "node:path";
import type { Origin, SourceNode } from "../../config/text/node.ts";
import { BlockReader } from "./blocks.ts";
import { Watch } from "./watch.ts";

export const tolerantParse = (
  text: string,
  base: Omit<Origin, "range">,
  watch: Watch = new Watch(-1),
): SourceNode | undefined => new BlockReader(text, base, watch).document();

/** A document's own tree: as it was parsed, and as far as it makes sense where that could not be done. */
export function wholeTree({ text, file, loaded }: OpenText): SourceNode | undefined {
  const broken = loaded.diagnostics.some(({ rule }) => rule === "syntax");
  if (!broken) return loaded.source;
  return tolerantParse(text, { file, folder: dirname(file), via: [], layer: "file" });
}

interface OpenText {
  readonly text: string;
  readonly file: string;
  readonly loaded: {
    readonly diagnostics: readonly { rule: string }[];
    readonly source: SourceNode | undefined;
  };
}
