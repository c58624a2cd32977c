/** What replaces a model's angles where there is no model: the easier a task, the nearer to 1, as the paper finds. */
import type { ArmSet } from "../../core/slots/arms.ts";
import type { Estimator } from "../../core/slots/curriculum.ts";
import { simulatedOf } from "./source.ts";

export class SimulatedAngles implements Estimator {
  private arms: ArmSet | undefined;

  addArms(arms: ArmSet): void {
    this.arms = arms;
  }
  estimate(arm: number): number {
    const task = this.arms?.task?.(arm);
    if (task === undefined) return Number.NaN;
    const { level, extra } = simulatedOf(task);
    return 1 / (1 + Math.exp(level + extra));
  }
  observe(): void {
    // A task's level does not change.
  }
  save(): { readonly json: null } {
    return { json: null };
  }
  load(): void {
    // It is read of the tasks.
  }
}
