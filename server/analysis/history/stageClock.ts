/** Which stage a recorded step was of. */
import type { RunConfig } from "../../core/config/runConfig.ts";
import type { StageConfig } from "../../core/config/stageConfig.ts";
import { rlSteps, turnAt } from "../../config/build/stagePlan.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import type { Clock } from "../../core/basics.ts";
import type { Group } from "../../core/rollouts.ts";
import { ends, seenWith, type Histories } from "../../algorithm/curriculum/until.ts";

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
  /** Stages that steps are counted by, in their order; undefined: no step was asked for yet. */
  private plan: readonly StageConfig[] | undefined;
  private index = 0;
  /** Step of the history at which the present stage began; `rl` steps before it. */
  private start = 0;
  private rl = 0;
  private seen: Histories = {};
  /** The last step that was asked for, and the last one of an rl stage. */
  private asked = -1;
  private last: (StageMoment & { readonly step: number }) | undefined;

  constructor({ stages }: RunConfig) {
    this.stages = stages;
    if (stages.every(({ kind }) => kind !== "rl"))
      throw new UserError("the config has no rl stage, so its curriculum draws nothing", {
        code: "no-rl-stage",
        action: "Add a stage of `kind: rl`, or leave `stages` out.",
      });
  }

  /** Asked in ascending order of the steps. @returns undefined: a step of a stage whose curriculum draws nothing */
  at(step: number): StageMoment | undefined {
    const plan = (this.plan ??= this.planFrom(step));
    for (let stage = plan[this.index]!; this.index < plan.length - 1; stage = plan[this.index]!) {
      const lasted = this.lasted(stage, step);
      if (lasted === undefined) break;
      this.rl += rlSteps(stage, lasted, this.stages);
      this.start += lasted;
      this.index += 1;
      this.seen = {};
    }
    this.asked = step;
    const moment = this.momentAt(plan[this.index]!, step);
    if (moment !== undefined) this.last = { ...moment, step };
    return moment;
  }

  private planFrom(step: number): readonly StageConfig[] {
    const own = this.stages.filter(({ part }) => !part);
    const draws = (stage: StageConfig): boolean => rlSteps(stage, stage.steps, this.stages) > 0;
    const supervised = own.slice(0, own.findIndex(draws)).reduce((sum, { steps }) => sum + steps, 0);
    return step >= supervised ? own : own.filter(draws);
  }

  /** Steps that a stage had which is over; undefined: it is not. */
  private lasted({ steps, until }: StageConfig, step: number): number | undefined {
    if (until !== undefined && ends(until, this.seen)) return this.asked + 1 - this.start;
    return step - this.start >= steps ? steps : undefined;
  }

  private momentAt(holder: StageConfig, step: number): StageMoment | undefined {
    const own = step - this.start;
    const { last } = this;
    // Behind the end of all stages the last one that drew goes on.
    if (own >= holder.steps && last !== undefined && holder.kind !== "rl") {
      const more = step - last.step;
      return {
        stage: last.stage,
        now: { step: last.now.step + more, stageStep: last.now.stageStep + more },
      };
    }
    const turn = holder.kind === "alternate" ? turnAt(holder.turns, own) : undefined;
    const stage = turn === undefined ? holder : this.stages[turn.stage]!;
    if (stage.kind !== "rl") return undefined;
    return {
      stage,
      now: { step: this.rl + rlSteps(holder, own, this.stages), stageStep: turn?.before ?? own },
    };
  }

  /** What the last step's outcomes say of its stage's condition. */
  saw(groups: readonly Group[]): void {
    const until = this.plan?.[this.index]?.until;
    const rewards = groups.flatMap((group) => [...group.rewards]);
    if (until === undefined || this.last === undefined || rewards.length === 0) return;
    const mean = rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
    // The only term's reward is the whole reward; of several terms a history knows the sum alone.
    const [only, ...others] = this.last.stage.body.reward.terms;
    const own = only !== undefined && others.length === 0 ? { [`reward/${only.name}`]: mean } : {};
    this.seen = seenWith(until, this.seen, { "reward/total": mean, ...own });
  }
}
