/** Which stage a recorded step was of. */
import type { RunConfig, StageConfig } from "../config/resolved.ts";
import { UserError } from "../../shared/errors.ts";
import type { Clock, Group } from "../seams.ts";
import { ends, seenWith, type Histories } from "../algorithm/until.ts";

export interface StageMoment {
  readonly stage: StageConfig;
  readonly now: Clock;
}

/**
 * Recorded steps count over the whole run, supervised stages included, unless the history begins before the first `rl`
 * stage could: then it counts `rl` steps alone. A stage ends after its steps, or when its `until` holds, as far as
 * rewards can tell: of other metrics a history knows nothing.
 */
export class StageClock {
  private readonly stages: readonly StageConfig[];
  private index = 0;
  /** Step of the history at which the present stage began; `rl` steps before it. */
  private start: number | undefined;
  private readonly supervised: number;
  private rl = 0;
  private seen: Histories = {};

  constructor({ stages }: RunConfig) {
    this.stages = stages.filter(({ kind }) => kind === "rl");
    const first = stages.findIndex(({ kind }) => kind === "rl");
    this.supervised = stages.slice(0, first).reduce((sum, { steps }) => sum + steps, 0);
    if (this.stages.length === 0)
      throw new UserError("the config has no rl stage: its curriculum draws nothing", {
        code: "no-rl-stage",
        action: "Add a stage of `kind: rl`, or leave `stages` out.",
      });
  }

  /** Asked in ascending order of the steps. */
  at(step: number): StageMoment {
    let start = (this.start ??= step >= this.supervised ? this.supervised : 0);
    for (; this.isOver(step, start) && this.index < this.stages.length - 1; this.index += 1) {
      const steps = Math.min(this.stages[this.index]!.steps, step - start);
      this.rl += steps;
      start += steps;
      this.seen = {};
    }
    this.start = start;
    const stageStep = step - start;
    return { stage: this.stages[this.index]!, now: { step: this.rl + stageStep, stageStep } };
  }

  private isOver(step: number, start: number): boolean {
    const { steps, until } = this.stages[this.index]!;
    return step - start >= steps || (until !== undefined && ends(until, this.seen));
  }

  /** What the step's outcomes say of the stage's condition. */
  saw(groups: readonly Group[]): void {
    const { until, body } = this.stages[this.index]!;
    const rewards = groups.flatMap((group) => [...group.rewards]);
    if (until === undefined || rewards.length === 0) return;
    const mean = rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
    // The only term's reward is the whole reward; of several terms a history knows the sum alone.
    const [only, ...others] = body.reward.terms;
    const own = only !== undefined && others.length === 0 ? { [`reward/${only.name}`]: mean } : {};
    this.seen = seenWith(until, this.seen, { "reward/total": mean, ...own });
  }
}
