/** Which groups of many are told apart by colour: the first, with which the others are compared, and the best. Pure. */
import type { Comparison, GroupSeries } from "../../shared/run/comparison.ts";

/** As many as colours and dashes tell apart in a chart that can still be read. */
const mostColoured = 12;
/** Of more: the first and the best. */
const best = 7;

const lastOf = ({ mean }: GroupSeries): number =>
  mean.findLast((value) => value !== null) ?? Number.NEGATIVE_INFINITY;

/** By held-out pass@1, else by reward: a number a group, higher is better. */
function meritOf({ groups, heldOut, series }: Comparison): readonly number[] {
  const passed = heldOut.filter(({ metric }) => metric === "eval/pass@1");
  const charted =
    series.find(({ metric, groups: own }) => metric === "eval/pass@1" && own.length > 0) ??
    series.find(({ metric }) => metric === "reward/total");
  return groups.map((_, at) => {
    if (passed.length > 0)
      return at === 0
        ? passed[0]!.before
        : (passed.find(({ group }) => group === at)?.after ?? Number.NEGATIVE_INFINITY);
    const own = charted?.groups.find(({ group }) => group === at);
    return own === undefined ? Number.NEGATIVE_INFINITY : lastOf(own);
  });
}

/** All groups in their order; of many the first, then the best, the best first. */
export function leadingGroups(found: Comparison): readonly number[] {
  const all = found.groups.map((_, at) => at);
  if (all.length <= mostColoured) return all;
  const merit = meritOf(found);
  const others = all.slice(1).sort((one, other) => merit[other]! - merit[one]!);
  return [0, ...others.slice(0, best)];
}

/** All groups, those that are told apart first. */
export function groupOrder(found: Comparison): readonly number[] {
  const leading = leadingGroups(found);
  return [...leading, ...found.groups.map((_, at) => at).filter((at) => !leading.includes(at))];
}

/** How a group is drawn; null: as one of the others, in grey. Pairs of colour and dash repeat after 36. */
export function styleOf(
  leading: readonly number[],
  group: number,
): { readonly tone: number; readonly dash: number } | null {
  const place = leading.indexOf(group);
  return place < 0 ? null : { tone: place % 6, dash: (place + Math.floor(place / 6)) % 6 };
}
