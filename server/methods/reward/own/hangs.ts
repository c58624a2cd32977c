/** Calls that gave no answer: after a few of a step its other rollouts are errors at once, else they would be waited for one by one. */

/** Time-outs of one step after which the function is not called any more in it. */
const hangsAllowed = 3;

export class Hangs {
  private times = 0;
  private step = -1;

  constructor(private readonly timeout: number) {}

  /** Those of another step are forgotten. */
  begin(step: number): void {
    if (this.step !== step) [this.step, this.times] = [step, 0];
  }

  add(): void {
    this.times += 1;
  }

  get tooMany(): boolean {
    return this.times >= hangsAllowed;
  }

  /** The same for each rollout, so that the run reports it once with their number. */
  get message(): string {
    return `not called, because it gave no answer within ${this.timeout} s ${hangsAllowed} times in this step; the next step calls it again. Make it faster, or raise reward.timeout`;
  }
}
