/** The progress that a long evaluation reports. */
import type { JsonObject } from "../../../shared/lib/json.ts";

/** Milliseconds between two messages; a shorter evaluation reports nothing. */
const EVERY = 10_000;

export interface ProgressMessage {
  readonly message: string;
  readonly data: JsonObject;
}

const spoken = (seconds: number): string =>
  seconds < 90 ? `${Math.max(1, Math.round(seconds))} s` : `${Math.round(seconds / 60)} min`;

export class EvaluationProgress {
  private done = 0;
  private readonly began: number;
  private last: number;

  constructor(
    /** Answers that will be written. */
    private readonly total: number,
    private readonly report: (progress: ProgressMessage) => void,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.began = this.last = now();
  }

  /** So many answers more are there. */
  add(answers: number): void {
    this.done += answers;
    const now = this.now();
    if (this.done >= this.total || now - this.last < EVERY) return;
    this.last = now;
    const left = ((now - this.began) / 1000 / this.done) * (this.total - this.done);
    this.report({
      message: `Evaluating: ${this.done} of ${this.total} answers, about ${spoken(left)} left.`,
      data: { answers: this.done, of: this.total, seconds_left: Math.round(left) },
    });
  }
}
