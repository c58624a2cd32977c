/** A verdict's fix as edits of the config that is open. */
import { plainText, type VerdictFix } from "../../../shared/run/verdict.ts";
import type { Fix } from "../../config/check/diagnostic.ts";
import { SourceEdits, pathOf } from "../../config/text/edits.ts";
import { touch } from "../../config/text/textEdits.ts";
import type { Text } from "./place.ts";

/** None where the text has no safe place for a value, or two values would be written at one place. */
export function quickFix({ title, set, effect }: VerdictFix, { text, root }: Text): readonly Fix[] {
  const source = new SourceEdits(text, root);
  const edits = set.flatMap(
    ({ path, value }) => source.set(pathOf(path), JSON.stringify(value), title)?.edits ?? [],
  );
  const apart = edits.every((edit, i) =>
    edits.slice(i + 1).every((other) => !touch(edit.range, other.range)),
  );
  return edits.length === set.length && apart
    ? [{ title: `${plainText(title)} (${effect ?? "effect unknown until tried"})`, edits }]
    : [];
}
