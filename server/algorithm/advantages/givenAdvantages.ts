/** Helped rollouts compared with those with the same prefill only, and what they were given with the group's plain rollouts. */
import { rowsOfGroups } from "../../core/rows/batch.ts";
import { mean } from "../../../shared/lib/mean.ts";
import { origin, type Batch } from "../../core/rollouts.ts";
import type { Combined } from "../../core/reward.ts";
import type { Advantages } from "./tokenAdvantages.ts";

/** The row's prefilled tokens, as a key; "": it has none. */
function givenOf({ offsets, tokens, origin: origins, records }: Batch, row: number): string {
  if (records[row]!.help === undefined) return "";
  const given: number[] = [];
  for (let i = offsets[row]!; i < offsets[row + 1]!; i++)
    if (origins[i] === origin.given) given.push(tokens[i]!);
  return given.join();
}

/** A group's rows by the words that they go on from; those of "" had none given. */
function byWords(batch: Batch, rows: readonly number[]): Map<string, number[]> {
  const sets = new Map<string, number[]>();
  for (const row of rows) {
    const given = givenOf(batch, row);
    sets.set(given, [...(sets.get(given) ?? []), row]);
  }
  return sets;
}

/** The batch with each set of rows that go on from the same words as a group of its own. */
export function apart(batch: Batch): Batch {
  const group = new Int32Array(batch.rows);
  let groups = 0;
  for (const rows of rowsOfGroups(batch))
    for (const set of byWords(batch, rows).values()) {
      for (const row of set) group[row] = groups;
      groups += 1;
    }
  return { ...batch, group, groups };
}

/** Takes the place of a row's advantages. */
interface Own {
  readonly row: number;
  readonly written: number;
  readonly given: number;
}

/**
 * @param found advantages of the batch `apart`: there a rollout that is alone has nothing to be compared with, and counts its
 * reward instead
 */
function ownOf(batch: Batch, found: Advantages, { total, errored }: Combined): Own[] {
  const isScored = (row: number): boolean => !Number.isNaN(total[row]!) && errored[row] === 0;
  return rowsOfGroups(batch).flatMap((rows) => {
    const sets = byWords(batch, rows);
    const plain = (sets.get("") ?? []).filter(isScored).map((row) => total[row]!);
    const baseline = plain.length > 1 ? mean(plain) : 0;
    return [...sets].flatMap(([words, set]) => {
      const scored = set.filter(isScored);
      // Plain rollouts are as the chain has them, but for one that is the only one in a group of helped ones.
      if (words === "" && (sets.size === 1 || scored.length > 1)) return [];
      const totals = scored.map((row) => total[row]!);
      return scored.map((row, at): Own => {
        const compared = Number.isNaN(found.rows[row]!) ? totals[at]! - mean(totals) : found.rows[row]!;
        const written = scored.length === 1 ? totals[at]! : compared;
        return { row, written, given: (written - baseline) / scored.length };
      });
    });
  });
}

/**
 * The advantages of helped rollouts among those with the same prefill, and of what they were given, where they have a reward.
 * @param found advantages of the batch `apart`
 */
export function withGiven(found: Advantages, combined: Combined, batch: Batch): Advantages {
  const [tokens, rows, exists] = [found.tokens.slice(), found.rows.slice(), found.exists.slice()];
  for (const { row, written, given } of ownOf(batch, found, combined)) {
    let [sum, trained] = [0, 0];
    for (let i = batch.offsets[row]!; i < batch.offsets[row + 1]!; i++) {
      if (batch.origin[i] === origin.observed) continue;
      tokens[i] = batch.origin[i] === origin.given ? given : written;
      exists[i] = 1;
      if (batch.mask[i] === 0) continue;
      sum += tokens[i]!;
      trained += 1;
    }
    if (trained > 0) rows[row] = sum / trained;
  }
  return { tokens, rows, exists, ...(found.returns !== undefined && { returns: found.returns }) };
}
