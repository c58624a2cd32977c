/** A part of a run's steps, as questions name it. */
export interface StepRange {
  readonly step?: number | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** First and last step, both included; what is not said bounds nothing. */
export const boundsOf = ({ step, from, to }: StepRange): readonly [number, number] => [
  Math.max(step ?? Number.MIN_SAFE_INTEGER, from ?? Number.MIN_SAFE_INTEGER),
  Math.min(step ?? Number.MAX_SAFE_INTEGER, to ?? Number.MAX_SAFE_INTEGER),
];
export const isWhole = ({ step, from, to }: StepRange): boolean =>
  step === undefined && from === undefined && to === undefined;

/** The column of `grp r` that names a lane. */
export const laneColumns = { arm: "r.arm", task: "r.task", family: "coalesce(r.family, r.arm)" } as const;
