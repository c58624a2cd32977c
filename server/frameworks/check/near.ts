/** The known key that is most similar to an unknown one. */
import { editDistance, nearest } from "../../lib/suggest.ts";
import type { KeyTable } from "../releases/load.ts";

const cut = (key: string): [string, string] => {
  const at = key.lastIndexOf(".");
  return at < 0 ? ["", key] : [key.slice(0, at), key.slice(at + 1)];
};

/** Launches of one folder misspell, and keep from older releases, the same keys. */
const meant = new WeakMap<KeyTable, Map<string, string | undefined>>();
/** Keys that a table is asked about and remembers. */
const most = 1_000;

/** A few letters differ: in the name, or in one of the sections. */
export function meantKey(key: string, table: KeyTable): string | undefined {
  const known = meant.get(table) ?? new Map<string, string | undefined>();
  meant.set(table, known);
  if (known.has(key)) return known.get(key);
  if (known.size >= most) known.clear();
  const found = nearestKey(key, table);
  known.set(key, found);
  return found;
}

function nearestKey(key: string, table: KeyTable): string | undefined {
  const [section, name] = cut(key);
  const written = table.keys.filter((other) => !other.endsWith("_target_"));
  const siblings = written.filter((other) => cut(other)[0] === section).map((other) => cut(other)[1]);
  const near = nearest(
    name,
    siblings.filter((other) => close(name, other)),
  );
  if (near !== undefined) return section === "" ? near : `${section}.${near}`;
  return oneSection(key, written);
}

/** The key of that name in a section above, else the only one of that name. */
export function namesake(key: string, table: KeyTable): string | undefined {
  const [section, name] = cut(key);
  for (let [above] = cut(section); above !== ""; [above] = cut(above))
    if (table.has(`${above}.${name}`)) return `${above}.${name}`;
  const alike = table.keys.filter((other) => cut(other)[1] === name);
  return alike.length === 1 && name.length > 4 && section !== "" ? alike[0] : undefined;
}

/** One section misspelt. */
function oneSection(key: string, keys: readonly string[]): string | undefined {
  const parts = key.split(".");
  return keys.find((other) => {
    const theirs = other.split(".");
    if (theirs.length !== parts.length) return false;
    const at = theirs.findIndex((part, i) => part !== parts[i]);
    const isOnly = at >= 0 && theirs.every((part, i) => i <= at || part === parts[i]);
    return isOnly && close(parts[at]!, theirs[at]!);
  });
}

/** Whether so few letters differ that it is a typo rather than another word. */
export function close(word: string, meant: string): boolean {
  const [own, theirs] = [word.toLowerCase(), meant.toLowerCase()];
  const length = Math.min(own.length, theirs.length);
  if (length < 4) return isSlip(own, theirs);
  return editDistance(own, theirs) <= (length < 9 ? 1 : 2);
}

/** Of short words, one letter too many or too few after the first, or two that changed places: another letter is another word. */
const isSlip = (word: string, meant: string): boolean =>
  editDistance(word, meant) === 1 &&
  (word.length === meant.length
    ? [...word].sort().join() === [...meant].sort().join()
    : word[0] === meant[0]);
