/** What a group's rollouts were scored by, criterion by criterion, side by side. */
import {
  criterionName,
  isBroken,
  type Criterion,
  type JudgedCriterion,
  type Met,
} from "../../../shared/rollouts/criteria.ts";
import type { RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import type { TermCriteria } from "../../../shared/rollouts/why.ts";

/** By term; criteria in the order in which the rollouts have them. Empty where no term judges by criteria. */
export function criteriaOf(group: readonly RolloutRow[]): TermCriteria[] {
  const rows = [...group].sort((one, other) => one.index - other.index);
  const terms = [...new Set(rows.flatMap(({ details = {} }) => Object.keys(details)))];
  return terms.map((term) => {
    const lists = rows.map(({ details }) => details?.[term]?.criteria ?? []);
    return { term, criteria: distinct(lists.flat()).map((one) => ({ ...one, met: metBy(lists, one) })) };
  });
}

const keyOf = ({ text, points }: Criterion): string => JSON.stringify([text, points]);

function distinct(all: readonly JudgedCriterion[]): Criterion[] {
  const found = new Map<string, Criterion>();
  for (const { met: _, ...criterion } of all)
    if (!found.has(keyOf(criterion))) found.set(keyOf(criterion), criterion);
  return [...found.values()];
}

const metBy = (lists: readonly (readonly JudgedCriterion[])[], criterion: Criterion): Met[] =>
  lists.map((list) => list.find((one) => keyOf(one) === keyOf(criterion))?.met ?? null);

const list = (names: readonly string[]): string => names.map((name) => `“${name}”`).join(", ");

/**
 * What distinguishes the group's rollouts, and what does not: of each term, in a sentence.
 * @param at the explained rollout's place among the siblings
 */
export function criteriaWords(terms: readonly TermCriteria[], at: number): string[] {
  return terms.flatMap(({ term, criteria }) => {
    const known = criteria.filter(({ met }) => met.some((one) => one !== null));
    const alike = known.filter(({ met }) => new Set(met).size === 1 && met.length > 1);
    const broken = criteria.filter(
      (one) => one.veto === true && isBroken({ ...one, met: one.met[at] ?? null }),
    );
    const own = criteria.filter(({ met }) => met[at] != null);
    const met = own.filter((one) => one.met[at]! >= 1).length;
    return [
      own.length === 0
        ? `${term} has no verdict on this rollout.`
        : `By ${term} it meets ${met} of ${own.length} criteria${broken.length === 0 ? "" : `, and fails one with a veto: ${list(broken.map(criterionName))}`}.`,
      ...(alike.length === 0
        ? []
        : [
            alike.length === known.length
              ? "Every rollout of the group gets the same verdicts, so they do not distinguish the rollouts."
              : `Every rollout of the group gets the same verdict on ${alike.length <= 3 ? list(alike.map(criterionName)) : `${alike.length} of them`}, which does not distinguish the rollouts.`,
          ]),
    ];
  });
}
