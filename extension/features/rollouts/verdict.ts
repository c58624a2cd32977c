/** What became of a group. Pure. */
import { fromWire, type RolloutRow } from "../../../shared/rollouts/rollouts.ts";

type Judged = Pick<RolloutRow, "advantage" | "reward" | "errors" | "admitted">;

const isNumber = (value: RolloutRow["advantage"]): boolean =>
  value !== undefined && Number.isFinite(fromWire(value));

/**
 * Whether a rollout of the group has an advantage: a group whose rewards all failed is admitted, and trains nothing.
 * @param size rollouts of the group: of some of them alone nothing is said
 */
export function teaches(rollouts: readonly Judged[], size = rollouts.length): boolean {
  if (rollouts.length < size || rollouts.some(({ advantage }) => isNumber(advantage))) return true;
  // A log of another program may tell no advantages at all.
  return !rollouts.some(({ reward, errors = {} }) => Object.keys(errors).length > 0 || reward === null);
}

/** "in training", or why not. */
export function groupVerdict(
  {
    admitted,
    reason,
    size,
  }: { readonly admitted: boolean; readonly reason?: string | null; readonly size?: number | undefined },
  rollouts: readonly Judged[],
): string {
  if (!admitted) return `left out${reason == null ? "" : `: ${reason}`}`;
  if (teaches(rollouts, size)) return "in training";
  const failed = rollouts.some(({ errors = {} }) => Object.keys(errors).length > 0);
  return failed ? "trains nothing: its rewards failed" : "trains nothing: no rollout has a reward";
}
