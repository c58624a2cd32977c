/** What a person's labels say of a judge: a reward term whose scores they are compared with. */

/** With its 95 % interval. */
export interface Estimate {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/** A rollout on which the judge and the label disagree. */
export interface Disagreement {
  readonly run: string | null;
  readonly step: number;
  readonly group: string;
  readonly index: number;
  readonly score: number;
  readonly good: boolean;
}

export interface JudgeReport {
  readonly term: string;
  /** Where the scores are from: recorded with the rollouts, or asked for now. */
  readonly scores: "recorded" | "asked";
  /** Labels good or bad whose answers have a score. */
  readonly labels: number;
  readonly good: number;
  readonly skipped: number;
  /** Labelled answers without a score, and why of the first of them. */
  readonly unscored: number;
  readonly reason: string | null;
  /** A score from here on is a pass. */
  readonly threshold: number;
  /** Equally weighted labels that say as much: those of a rare verdict count for few rollouts. */
  readonly effective: number | null;
  readonly agreement: Estimate | null;
  /** Agreement of a judge that passes as many and looks at nothing. */
  readonly chance: number | null;
  readonly kappa: Estimate | null;
  /** How many the judge passes, and the share of them that is labelled good. */
  readonly passed: { readonly labels: number; readonly good: Estimate | null };
  readonly failed: { readonly labels: number; readonly good: Estimate | null };
  /** null: one class, or no more than two scores, of which agreement says all. */
  readonly auroc: Estimate | null;
  /** Correlation of score and length at the same label. */
  readonly length: Estimate | null;
  /** Asked again in the reverse order: the share of verdicts that changed. null: not asked. */
  readonly flips: Estimate | null;
  /** Labels for ± 10 points of agreement. null: there are as many. */
  readonly wanted: number | null;
  /** Those the judge is surest of first. */
  readonly disagreements: readonly Disagreement[];
}
