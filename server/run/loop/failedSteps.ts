/** Steps in a row that trained nothing because something failed on every rollout. */
import { UserError } from "../../../shared/lib/errors.ts";

/** What failed: a reward, an episode's environment or tool, or the program that plays. */
export interface StepFailure {
  readonly what: "reward" | "environment" | "harness";
  readonly message: string;
}

const resuming = "then resume the run: it continues from its last checkpoint";
const bears = "`reward.max_failed_steps` sets how many such steps a run bears.";
/** What each is as an error that ends the run. */
const errors = {
  reward: {
    failed: (steps: string) => `The reward failed on every rollout of ${steps}`,
    code: "reward-failed",
    action: `Fix the reward's file, ${resuming} with the file as it is then. ${bears}`,
  },
  environment: {
    failed: (steps: string) => `Every episode of ${steps} failed`,
    code: "episodes-failed",
    action: `Fix the environment or the tool, ${resuming}. ${bears}`,
  },
  harness: {
    failed: (steps: string) => `The harness failed in every episode of ${steps}`,
    code: "episodes-failed",
    action: `Fix the program that \`rollout.command\` runs, ${resuming}. \`gradus run FILE --dry-run\` has it play and shows what it says. ${bears}`,
  },
} as const;

export class FailedSteps {
  private count = 0;
  /** Of the first of them: later failures may follow from it. */
  private first: { readonly step: number; readonly failure: StepFailure } | undefined;

  /** @param failure undefined: some rollout has a reward */
  observe(step: number, failure: StepFailure | undefined): void {
    this.count = failure === undefined ? 0 : this.count + 1;
    if (failure === undefined) this.first = undefined;
    else this.first ??= { step, failure };
  }

  /** @param most `reward.max_failed_steps`; 0: any number. @throws UserError that ends the run, where they are as many */
  check(most: number): void {
    if (most === 0 || this.first === undefined || this.count < most) return;
    const {
      step,
      failure: { what, message },
    } = this.first;
    const steps = this.count === 1 ? "a step" : `${this.count} steps in a row`;
    const { failed, code, action } = errors[what];
    throw new UserError(`${failed(steps)}, so nothing was trained. First, at step ${step}: ${message}`, {
      code,
      action,
    });
  }
}
