/** One of several answers to a task, as selectors see it. */
export interface SampledAnswer {
  readonly response: string;
  /** What it comes to: answers that are the same text agree. null: it has none, and votes for none. */
  readonly answer: string | null;
  readonly right: boolean;
  /** Mean log-prob of its tokens at temperature 1. */
  readonly mean_logp: number;
  /** What each reward term gave, before its weight. */
  readonly terms: Readonly<Record<string, number>>;
}

/** What a selector makes of the answers to a task. */
export interface Choice {
  /** 1 where what it takes is right, 0 where it is wrong; of several that are equally good, the share that is right. */
  readonly right: number;
  /** How sure it is, in [0, 1]; absent: it says nothing of that. */
  readonly confidence?: number;
}
