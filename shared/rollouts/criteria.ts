/** What a reward term says of a response criterion by criterion: those of a rubric, or a reward function's own. */
import { formatChange, formatNumber } from "../lib/format.ts";

export interface Criterion {
  /** What charts and conditions call it; absent: its text. */
  readonly name?: string;
  readonly text: string;
  /** What it counts where it is met; below 0: what a good response avoids. */
  readonly points: number;
  /** Where it is broken, the other criteria earn nothing. */
  readonly veto?: boolean;
}

/** How far a criterion is met, 0 to 1; null: that is not known. */
export type Met = number | null;
export type JudgedCriterion = Criterion & { readonly met: Met };

/** Next to a term's value on a rollout. */
export interface TermDetails {
  readonly criteria: readonly JudgedCriterion[];
}

/** In the text of a test that the program's own process graded, with the reason. */
export const ownProcessMark = "graded by the program's own process";
/** Of a term: how many tests were. */
export const ownProcessComponent = "own_process";

export const isByOwnProcess = ({ text }: Criterion): boolean => text.includes(`(${ownProcessMark}`);

export const criterionName = ({ name, text }: Criterion): string => name ?? text;

/** Its name, and what a reader must know of it besides. */
export const criterionLabel = (criterion: Criterion): string => {
  const name = criterionName(criterion);
  return name !== criterion.text && isByOwnProcess(criterion) ? `${name} (${ownProcessMark})` : name;
};

/** Not met though it should be, or met though it should not; false where that is not known. */
export const isBroken = ({ points, met }: JudgedCriterion): boolean =>
  met !== null && (points < 0 ? met > 0 : met < 1);

/** 1 what earns all of its points, −1 what earns none, or costs some; 0 neither. */
export function signOfCriterion({ points, met }: JudgedCriterion): -1 | 0 | 1 {
  if (met === null) return 0;
  if (points < 0) return met > 0 ? -1 : 0;
  return met >= 1 ? 1 : met <= 0 ? -1 : 0;
}

/** ✓ met, ✗ not met, 40 % in between, ? not known. */
export const metMark = (met: Met): string =>
  met === null ? "?" : met >= 1 ? "✓" : met <= 0 ? "✗" : `${formatNumber(100 * met)} %`;
/** The same for who cannot see it. */
export const metWords = (met: Met): string =>
  met === null ? "not known" : met >= 1 ? "met" : met <= 0 ? "not met" : `met by ${metMark(met)}`;

/** "+5", "−4, veto". */
export const pointsText = ({ points, veto }: Criterion): string =>
  `${formatChange(points)}${veto === true ? ", veto" : ""}`;

/** "✓ +5 names the dose". */
export const criterionText = (criterion: JudgedCriterion): string =>
  `${metMark(criterion.met)} ${pointsText(criterion)}  ${criterionLabel(criterion)}`;

/** "3 of 4 criteria met"; unknown criteria are mentioned. */
export function metCount(criteria: readonly JudgedCriterion[]): string {
  const met = criteria.filter((one) => one.met !== null && one.met >= 1).length;
  const unknown = criteria.filter((one) => one.met === null).length;
  return `${met} of ${criteria.length} criteria met${unknown === 0 ? "" : `, ${unknown} not known`}`;
}
