import { formatNumber, plural } from "../lib/format.ts";
import type { RolloutRow } from "./rollouts.ts";

/**
 * Whom a branch left and where, in one line.
 * @param marked the response itself is marked: what was taken over is not repeated
 */
export function branchText(
  { index, token, text }: NonNullable<RolloutRow["parent"]>,
  marked = false,
): string {
  const taken = marked || text === undefined ? "" : `: ${JSON.stringify(text)}`;
  return `branch of rollout ${formatNumber(index)}, whose first ${plural(token, "token")} it shares${taken}`;
}
