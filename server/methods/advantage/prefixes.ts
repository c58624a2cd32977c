/** Tokens that several rollouts share: a rollout's beginning, up to where its branches left it. */
import type { Batch } from "../../core/rollouts.ts";
import { spreadOver } from "./sources.ts";
import type { Units } from "../../core/slots/advantage.ts";
import { unitsOf } from "./units.ts";

/** Rows below each row: its branches and theirs, each with the token of this row at which its line left. */
function descendants(batch: Batch): Map<number, { row: number; token: number }[]> {
  const at = new Map<string, number>();
  batch.records.forEach(({ index, use }, row) => {
    if (use === "train") at.set(`${batch.group[row]!} ${index}`, row);
  });
  const found = new Map<number, { row: number; token: number }[]>();
  for (const row of at.values()) {
    const seen = new Set([row]);
    for (let below = row; ;) {
      const { parent } = batch.records[below]!;
      const above = parent && at.get(`${batch.group[row]!} ${parent.index}`);
      if (parent === undefined || above === undefined || seen.has(above)) break;
      seen.add(above);
      found.set(above, [...(found.get(above) ?? []), { row, token: parent.token }]);
      below = above;
    }
  }
  return found;
}

/**
 * A token before a branching gets the mean of what every rollout that it is part of gives it: its own, and for each
 * branch that left later that branch's first advantage.
 */
export function sharedPrefixes(
  { units, values }: { readonly units: Units; readonly values: Float64Array },
  batch: Batch,
): { units: Units; values: Float64Array } {
  const shared = descendants(batch);
  if (shared.size === 0) return { units, values };
  const tokens = units.level === "token" ? units : unitsOf(batch, "token");
  const own = spreadOver(values, units, batch, Number.NaN);
  const result = Float64Array.from(tokens.start, (t) => own[t]!);
  const heads = Float64Array.from({ length: batch.rows }, (_, row) =>
    tokens.offsets[row] === tokens.offsets[row + 1] ? Number.NaN : result[tokens.offsets[row]!]!,
  );
  for (const [row, branches] of shared) {
    for (let unit = tokens.offsets[row]!; unit < tokens.offsets[row + 1]!; unit++) {
      const place = tokens.start[unit]! - batch.offsets[row]!;
      let [sum, count] = [result[unit]!, 1];
      for (const { row: branch, token } of branches) {
        if (place >= token || Number.isNaN(heads[branch]!)) continue;
        sum += heads[branch]!;
        count += 1;
      }
      result[unit] = sum / count;
    }
  }
  return { units: tokens, values: result };
}
