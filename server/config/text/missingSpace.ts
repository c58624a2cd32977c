/** `key:value`, which YAML reads as one word: a colon parts a key from its value only with a space after it. */
import type { Range } from "../../lib/lines.ts";
import type { Fix } from "../check/diagnostic.ts";
import { textOf, type SourceNode } from "./node.ts";

/** The two that one word was meant to be. */
interface Unspaced {
  readonly key: string;
  readonly value: string;
}

/** undefined: the word is no key with a value. Addresses (`http://…`) and folders of a drive (`C:\…`) are none. */
export function unspaced(word: string): Unspaced | undefined {
  const [, key, value] = /^([A-Za-z_]\w*):((?![\\/:])\S.*)$/.exec(word) ?? [];
  return key === undefined || value === undefined ? undefined : { key, value };
}

export const spaceWords = ({ key, value }: Unspaced): string =>
  `A space is missing after the colon: write \`${key}: ${value}\`.`;

const title = "Put a space after the colon";

/** For words where a key may be. @param at where each colon ends */
export const spaceFix = (at: readonly Range[]): Fix => ({
  title,
  edits: at.map((range) => ({ range, newText: " " })),
  preferred: true,
});

/**
 * A word where a map should be.
 * @param keys those of the map; default: any
 */
export function unspacedMap(
  node: SourceNode,
  keys?: readonly string[],
): { readonly words: string; readonly fix: Fix } | undefined {
  const found = unspaced(textOf(node) ?? "");
  if (found === undefined || (keys !== undefined && !keys.includes(found.key))) return undefined;
  // Braces are right after its key as well as on a line of its own.
  const newText = `{ ${found.key}: ${found.value} }`;
  const edits = [{ range: node.origin.range, newText }];
  return { words: spaceWords(found), fix: { title, edits, preferred: true } };
}
