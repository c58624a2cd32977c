/** A simulated learner, and what is noted of its steps. */
import type { Random } from "../../server/lib/random.ts";
import type { Group } from "../../server/core/rollouts.ts";
import { gainOf } from "../../server/analysis/simulate/groups.ts";
import { Learner } from "../../server/analysis/simulate/learner.ts";
import { scenarios } from "../../server/analysis/simulate/scenarios.ts";
import type { Answering } from "../../server/analysis/simulate/simulate.ts";
import { simulatedOf } from "../../server/analysis/simulate/source.ts";
import type { Point } from "./result.ts";

const { world } = scenarios.find(({ name }) => name === "ladder")!;
/** Steps from point to point. */
export const every = 10;

/** A simulated learner as who answers, and what is noted of its groups. */
export class Student implements Answering {
  readonly learner: Learner;

  constructor(random: Random) {
    this.learner = new Learner(world(random));
  }
  attempt: Answering["attempt"] = ({ task }, count, random) => {
    const { level, extra } = simulatedOf(task);
    return this.learner.attempt(level, extra, count, random);
  };
  train(groups: readonly Group[]): void {
    this.learner.update(
      groups.map((group) => ({ level: simulatedOf(group.task).level, gain: gainOf(group) })),
    );
  }
}

const mixed = ({ successes, rewards }: Group): boolean => successes > 0 && successes < rewards.length;

/** Adds up steps, and takes a point every few of them. */
export class Progress {
  readonly points: Point[] = [];
  readonly groups = { drawn: 0, admitted: 0, mixed: 0 };
  private readonly spent = { step: 0, rollouts: 0, written: 0, trained: 0 };

  constructor(private readonly arms: () => Point["arms"]) {
    this.point();
  }
  /** @param trained the groups that were admitted */
  step(drawn: number, trained: readonly Group[], rollouts: number): void {
    const taught = trained.filter(mixed);
    this.groups.drawn += drawn;
    this.groups.admitted += trained.length;
    this.groups.mixed += taught.length;
    this.spent.step += 1;
    this.spent.rollouts += rollouts;
    this.spent.written += rollouts;
    this.spent.trained += taught.reduce((sum, { rewards }) => sum + rewards.length, 0);
    if (this.spent.step % every === 0) this.point();
  }
  private point(): void {
    const arms = Object.entries(this.arms()).map(([name, value]) => [name, Number(value.toFixed(4))]);
    this.points.push({ ...this.spent, arms: Object.fromEntries(arms) });
  }
}
