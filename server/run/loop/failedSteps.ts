/** Steps in a row that trained nothing because the reward failed on every rollout. */
import { UserError } from "../../../shared/lib/errors.ts";

export class FailedSteps {
  private count = 0;
  /** Of the first of them: later failures may follow from it. */
  private first: { readonly step: number; readonly cause: string } | undefined;

  /** @param cause undefined: some rollout has a reward */
  observe(step: number, cause: string | undefined): void {
    this.count = cause === undefined ? 0 : this.count + 1;
    if (cause === undefined) this.first = undefined;
    else this.first ??= { step, cause };
  }

  /** @param most `reward.max_failed_steps`; 0: any number. @throws UserError that ends the run, where they are as many */
  check(most: number): void {
    if (most === 0 || this.first === undefined || this.count < most) return;
    const { step, cause } = this.first;
    const steps = this.count === 1 ? "a step" : `${this.count} steps in a row`;
    throw new UserError(
      `The reward failed on every rollout of ${steps}, so nothing was trained. First, at step ${step}: ${cause}`,
      {
        code: "reward-failed",
        action:
          "Fix the reward's file, then resume the run: it continues from its last checkpoint with the file as it is then. `reward.max_failed_steps` sets how many such steps a run bears.",
      },
    );
  }
}
