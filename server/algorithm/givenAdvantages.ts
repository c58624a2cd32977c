/** An advantage of its own for what helped rollouts were given: they are compared with those behind the same words. */
import { rowsOfGroups } from "../batch.ts";
import { origin, type Batch, type Combined } from "../seams.ts";
import type { Advantages } from "./tokenAdvantages.ts";

/** Added to the standard deviation. */
const epsilon = 1e-6;

/** The row's given tokens, as a key; undefined: it has none. */
function givenOf({ offsets, tokens, origin: origins, records }: Batch, row: number): string | undefined {
  if (records[row]!.help === undefined) return undefined;
  const given: number[] = [];
  for (let i = offsets[row]!; i < offsets[row + 1]!; i++)
    if (origins[i] === origin.given) given.push(tokens[i]!);
  return given.length === 0 ? undefined : given.join();
}

/** Rows of each group that go on from the same words. */
function sharing(batch: Batch): number[][] {
  return rowsOfGroups(batch).flatMap((rows) => {
    const sets = new Map<string, number[]>();
    for (const row of rows) {
      const given = givenOf(batch, row);
      if (given !== undefined) sets.set(given, [...(sets.get(given) ?? []), row]);
    }
    return [...sets.values()];
  });
}

/** (r − mean) / (std + ε) over those that share it, r itself where one is alone, divided by how many they are. */
function normalised(rewards: readonly number[]): number[] {
  const n = rewards.length;
  if (n === 1) return [...rewards];
  const mean = rewards.reduce((sum, one) => sum + one, 0) / n;
  const deviation = Math.sqrt(rewards.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (n - 1));
  return rewards.map((one) => (one - mean) / (deviation + epsilon) / n);
}

/** The advantages with those of given tokens replaced, where their rollouts have a reward. */
export function withGiven(advantages: Advantages, { total, errored }: Combined, batch: Batch): Advantages {
  const { perRow: _, late: __, ...rest } = advantages;
  const tokens = advantages.tokens.slice();
  const exists = advantages.exists.slice();
  for (const rows of sharing(batch)) {
    const paid = rows.filter((row) => !Number.isNaN(total[row]!) && errored[row] === 0);
    normalised(paid.map((row) => total[row]!)).forEach((value, at) => {
      for (let i = batch.offsets[paid[at]!]!; i < batch.offsets[paid[at]! + 1]!; i++) {
        if (batch.origin[i] !== origin.given) continue;
        tokens[i] = value;
        exists[i] = 1;
      }
    });
  }
  return { ...rest, tokens, exists };
}
