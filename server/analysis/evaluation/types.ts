/** What an evaluation measures. */

/** What evaluation saw of one held-out task. */
export interface EvaluatedTask {
  readonly arm: string;
  /** Success of each sampled answer that could be scored. */
  readonly samples: readonly boolean[];
  /** Success of the greedy answer; undefined where it was not asked for or could not be scored. */
  readonly greedy?: boolean | undefined;
  /** The greedy answer's reward by term, before its weight, and `total`. A term that does not apply is left out. */
  readonly rewards?: Readonly<Record<string, number>> | undefined;
  /** Where answers have several attempts: what came of each, of the answers that could be scored. */
  readonly attempts?:
    | { readonly samples: readonly AttemptOutcomes[]; readonly greedy?: AttemptOutcomes | undefined }
    | undefined;
}

/** A measure of each task; undefined where the task says nothing of it. */
export type Measure = (task: EvaluatedTask) => number | undefined;

/** Of one answer: whether it was right after its first attempt, its second, …, up to the most that any may have. */
export type AttemptOutcomes = readonly boolean[];
