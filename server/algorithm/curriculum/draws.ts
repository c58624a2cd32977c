/** The draw of tasks: predictions, then arms, then a task of each. */
import { toWire } from "../../../shared/rollouts/rollouts.ts";
import type { Arm, Clock } from "../../core/basics.ts";
import type { ArmSet } from "../../core/slots/arms.ts";
import type { Budget, Candidate } from "../../core/slots/curriculum.ts";
import type { ArmPool } from "../../core/slots/fastArms.ts";
import type { Task } from "../../core/task.ts";
import type { Random } from "../../lib/random.ts";
import type { BeliefParts, Beliefs } from "./beliefs.ts";
import type { Happenings } from "./curriculumRecord.ts";

export interface DrawnTask {
  readonly arm: Arm;
  readonly task: Task;
  /** Rollouts of its group; absent: `rollout.group`. */
  readonly rollouts?: number;
}

interface DrawParts extends BeliefParts {
  readonly budget: Budget;
  /** Rollouts of a group (`rollout.group`). */
  readonly group: number;
}

export class Draws {
  /** Arms without a task left. */
  readonly usedUp = new Set<number>();

  constructor(
    private readonly parts: DrawParts,
    private readonly beliefs: Beliefs,
    private readonly happenings: Happenings,
  ) {}

  private get arms(): ArmSet {
    return this.parts.division.arms;
  }

  /**
   * Tasks to roll out. Fewer than `n` only when all arms that may be drawn are exhausted.
   * @param taken arms that the step has drawn already; drawn arms are added
   */
  async draw(n: number, random: Random, clock: Clock, taken: Set<number>): Promise<DrawnTask[]> {
    const { division } = this.parts;
    await this.predictNew();
    const found: Candidate[] = [];
    const empty = new Set<number>();
    for (let at = 0; found.length < n;) {
      const pool = this.beliefs.pool(clock, division.once === true ? new Set([...empty, ...taken]) : empty);
      const own = at === 0 ? random : random.fork("again", at);
      const arms = await this.drawArms(pool, n - found.length, own, clock);
      if (arms.length === 0) break;
      for (const arm of arms) {
        const task = empty.has(arm) ? null : division.draw(arm, random.fork("task", at++), clock);
        if (task === null) {
          empty.add(arm);
          if (division.filling?.(arm) !== true) this.usedUp.add(arm);
        } else found.push({ arm, task });
        taken.add(arm);
      }
    }
    await this.predictDrawn(found, clock);
    return this.withBudget(found);
  }

  private async predictNew(): Promise<void> {
    const fresh = (await this.parts.estimator.model?.predictNew?.(this.arms)) ?? [];
    this.beliefs.changed(fresh.length === this.arms.size ? "all" : fresh);
    this.notePredicted(fresh, (arm) => this.parts.estimator.estimate(arm), false);
  }
  private async predictDrawn(drawn: readonly Candidate[], clock: Clock): Promise<void> {
    const { model } = this.parts.estimator;
    await model?.predictDrawn?.(drawn, clock);
    if (model?.current === undefined) return;
    const arms = drawn.map(({ arm }) => arm);
    this.notePredicted(arms, (arm) => model.current?.(arm) ?? Number.NaN, true);
  }
  private notePredicted(arms: readonly number[], value: (arm: number) => number, now: boolean): void {
    if (arms.length === 0) return;
    this.happenings.add(() => {
      const values = arms.map((arm) => toWire(value(arm)));
      return { kind: "looked", arms: this.namesOf(arms), values, now };
    });
  }
  private noteDrawn(drawn: readonly number[]): void {
    const { replay } = this.parts.sampler;
    if (replay === undefined || drawn.length === 0) return;
    this.happenings.add(() => {
      const notes = replay.notes?.();
      return { kind: "drawn", arms: this.namesOf(drawn), ...(notes && { notes: [...notes] }) };
    });
  }
  private namesOf(arms: readonly number[]): string[] {
    return arms.map((arm) => this.arms.name(arm));
  }

  private async drawArms(pool: ArmPool, n: number, random: Random, clock: Clock): Promise<number[]> {
    const { sampler, estimator } = this.parts;
    const { model } = estimator;
    const candidates = sampler.candidates?.(pool, n, random.fork("candidates"), clock) ?? [];
    if (candidates.length > 0 && model?.predict !== undefined) {
      const { task } = this.arms;
      if (task !== undefined)
        await model.predict(candidates.map((arm) => ({ arm, task: task.call(this.arms, arm) })));
      this.beliefs.changed(candidates);
      this.notePredicted(candidates, (arm) => estimator.estimate(arm), false);
    }
    const drawn = sampler.draw(pool, n, random.fork("arm"), clock, candidates);
    this.beliefs.changed(drawn);
    // A sampler that chooses points of a box adds arms.
    if (this.arms.size > pool.size) estimator.addArms?.(this.arms);
    this.noteDrawn(drawn);
    return drawn;
  }

  private withBudget(found: readonly Candidate[]): DrawnTask[] {
    const { budget, group, estimator } = this.parts;
    const arms = found.map(({ arm }) => arm);
    const rollouts = budget.rollouts?.(arms, group, (arm) => estimator.estimate(arm));
    return found.map(({ arm, task }, i) => ({
      arm: this.arms.name(arm),
      task,
      ...(rollouts === undefined ? {} : { rollouts: rollouts[i]! }),
    }));
  }
}
