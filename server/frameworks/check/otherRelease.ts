/** A file without any sign of its release may be for another than the newest. */
import { trainers } from "../../../shared/run/trainers.ts";
import type { Diagnostic } from "../../config/check/diagnostic.ts";
import { editDistance } from "../../lib/suggest.ts";
import { addedKey, movedKey, unknownKey } from "./keyRules.ts";
import type { FrameworkDocument } from "../text/document.ts";
import { factsFor } from "../releases/facts.ts";
import { microBatch } from "../trainers/verl/rules/batch/microBatch.ts";
import { historyOf, tableOf } from "../releases/load.ts";

/** Fewer settings may be a note or a draft: every release has them. */
const wholeFile = 12;

/**
 * Errors that an older release does not make are warnings that name both; so is a key that no release has and that
 * resembles none, for it may be newer than all of them. What every release refuses stays an error.
 */
export function withoutRelease(
  document: FrameworkDocument,
  found: readonly Diagnostic[],
  judge: (document: FrameworkDocument) => readonly Diagnostic[],
): readonly Diagnostic[] {
  const errors = found.filter(isError);
  if (document.version.from !== "newest" || document.settings.length < wholeFile || errors.length === 0)
    return found;
  const name = trainers[document.framework].name;
  // Only keys show another release: what a rule refuses may be a mistake in every release.
  const keys = errors.some(({ rule }) => ofKeys.has(rule));
  const older = keys ? bestOlder(document, errors.length, judge) : undefined;
  return found.map((one) => {
    if (!isError(one)) return one;
    if (older !== undefined && !older.refused.has(placeOf(one)))
      return warning(one, `${name} ${older.version} accepts it, and nothing here names a release`);
    return isStrange(document, one) ? warning(one, "a later release may have it") : one;
  });

  function warning(one: Diagnostic, why: string): Diagnostic {
    const checked = `Checked against ${name} ${document.version.text}, the newest release known here: ${why}.`;
    return {
      ...one,
      severity: "warning",
      message: `${one.message} ${checked} Name yours in a comment (\`# ${document.framework}==…\`).`,
    };
  }
}

/** Batches of all GPUs (`ppo_micro_batch_size`) are keys that later releases have and no longer read. */
const ofKeys: ReadonlySet<string> = new Set([
  ...[unknownKey, movedKey, addedKey].map(({ id }) => id),
  microBatch.id,
]);
const isError = ({ severity }: Diagnostic): boolean => severity === "error";
const placeOf = ({ range: { start } }: Diagnostic): string => `${start.line}:${start.character}`;

/** The latest release that makes the fewest errors; undefined if none makes fewer than the newest. */
function bestOlder(
  document: FrameworkDocument,
  most: number,
  judge: (document: FrameworkDocument) => readonly Diagnostic[],
): { readonly version: string; readonly refused: ReadonlySet<string> } | undefined {
  let best: { readonly version: string; readonly refused: ReadonlySet<string> } | undefined;
  let least = most;
  for (const version of tableOf(document.framework).versions.slice(0, -1).reverse()) {
    const errors = judge({ ...document, version: { text: version, table: version, from: "file" } }).filter(
      isError,
    );
    if (errors.length < least) best = { version, refused: new Set(errors.map(placeOf)) };
    least = Math.min(least, errors.length);
    if (least === 0) break;
  }
  return best;
}

/** Neither a typo nor a key of another release: two letters off is a typo, whatever the length. */
function isStrange(document: FrameworkDocument, { rule, key, message }: Diagnostic): boolean {
  const { framework, version, tree } = document;
  if (rule !== unknownKey.id || message.includes("Did you mean")) return false;
  if (historyOf(framework, key).length > 0) return false;
  return !factsFor(framework, version, tree).keys.some((known) => editDistance(known, key) <= 2);
}
