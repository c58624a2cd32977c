/** A past run's mixtures as a curriculum: one after the other, or all at once, without their components of little signal. */
import { z } from "zod";
import { mean } from "../../../../../shared/lib/mean.ts";
import type { Json } from "../../../../../shared/lib/json.ts";
import { cholesky } from "../../../../lib/algebra/linear.ts";
import type { PastCurriculum } from "../../pastCurriculum.ts";
import type { Component, Mixture } from "./gaussianMixture.ts";

/** A mixture of the sequence. */
export interface PastStage {
  readonly mixture: Mixture;
  /** What the past run's last groups from it have earned on average; null: nothing is known. */
  readonly reward: number | null;
}

/** Rewards that a stage's own is the mean of: the last that its mixture's components have earned. */
const rewardsOfStage = 50;

/**
 * What is worth following of a past curriculum: components whose mean signal is above `least`, and mixtures that have
 * one. The covariance is that of point and signal.
 */
export function worthFollowing({ mixtures }: Pick<PastCurriculum, "mixtures">, least: number): PastStage[] {
  return mixtures.flatMap(({ components, earned }) => {
    const kept = new Set([...components.keys()].filter((i) => components[i]!.mean.at(-1)! > least));
    if (kept.size === 0) return [];
    const rewards = earned.flatMap(([component, reward]) => (kept.has(component) ? [reward] : []));
    const mixture = [...kept].map((i): Component => {
      const { weight, mean: center, covariance } = components[i]!;
      return {
        weight,
        mean: Float64Array.from(center),
        factor: cholesky(Float64Array.from(covariance.flat()), center.length),
      };
    });
    return [{ mixture, reward: rewards.length === 0 ? null : mean(rewards.slice(-rewardsOfStage)) }];
  });
}

interface ReplayOptions {
  readonly advance: "reward" | "time" | "pool";
  /** Rewards from a stage that are compared with the past run's. */
  readonly window: number;
  /** Times the past run's reward is what must be earned. */
  readonly tolerance: number;
  /** Groups that a stage lasts, by time. */
  readonly fit_every: number;
}

/** What came of a group that was drawn from a stage. */
export interface StageOutcome {
  /** The stage it was drawn from and the component; undefined: it was drawn elsewhere. */
  readonly origin: { readonly stage: number; readonly component: number } | undefined;
  readonly reward: number;
  readonly signal: number;
}

/** Groups from the last stage between two renewals of its signals, and the signals that each is the mean of. */
const renewal = 100;

export class ReplayedMixtures {
  private readonly stages: readonly PastStage[];
  stage: number;
  /** The last stage has been reached: it goes on with signals of this run. */
  over = false;
  private rewards: number[] = [];
  /** Of the last stage's components: the latest signals of groups drawn from them, and what was last made of those. */
  private signals: number[][] = [];
  private renewed: number[] | undefined;
  private since = 0;

  /** @param groups observed before the first stage */
  constructor(
    past: readonly PastStage[],
    private readonly options: ReplayOptions,
    groups: number,
  ) {
    this.stages =
      options.advance === "pool"
        ? [{ mixture: past.flatMap(({ mixture }) => mixture), reward: null }]
        : [...past];
    this.stage = options.advance === "time" ? this.byTime(groups) : 0;
  }
  /** Time counts from the run's first group, the pre-run's included. */
  private byTime(groups: number): number {
    return Math.min(Math.floor(groups / this.options.fit_every), this.stages.length - 1);
  }

  get length(): number {
    return this.stages.length;
  }

  /** What points are drawn from now. */
  get mixture(): Mixture {
    const { mixture } = this.stages[this.stage]!;
    const { renewed } = this;
    if (renewed === undefined) return mixture;
    return mixture.map((one, i) => ({
      ...one,
      mean: Float64Array.from(one.mean, (x, at) => (at === one.mean.length - 1 ? renewed[i]! : x)),
    }));
  }

  /**
   * @param groups observed so far, this one included
   * @returns what has changed
   */
  learn({ origin, reward, signal }: StageOutcome, groups: number): "advanced" | "over" | undefined {
    const { advance } = this.options;
    const own = origin?.stage === this.stage ? origin.component : undefined;
    if (advance === "pool") return undefined;
    if (this.stage === this.stages.length - 1) return this.last(own, signal);
    if (own !== undefined && Number.isFinite(reward))
      this.rewards = [...this.rewards, reward].slice(-this.options.window);
    return this.isDone(groups) ? this.next(groups) : undefined;
  }

  private isDone(groups: number): boolean {
    const { advance, window, tolerance } = this.options;
    if (advance === "time") return this.byTime(groups) > this.stage;
    if (this.rewards.length < window) return false;
    const { reward } = this.stages[this.stage]!;
    return reward === null || mean(this.rewards) >= reward * tolerance;
  }
  private next(groups: number): "advanced" {
    this.stage = this.options.advance === "time" ? this.byTime(groups) : this.stage + 1;
    this.rewards = [];
    return "advanced";
  }

  private last(component: number | undefined, signal: number): "over" | undefined {
    const ends = !this.over;
    this.over = true;
    this.signals = this.stages[this.stage]!.mixture.map((_, i) => this.signals[i] ?? []);
    if (component !== undefined) {
      this.signals[component] = [...this.signals[component]!, signal].slice(-renewal);
      this.since += 1;
    }
    if (this.since === renewal) {
      this.since = 0;
      this.renewed = this.signals.map((own) => (own.length === 0 ? 0 : mean(own)));
    }
    return ends ? "over" : undefined;
  }

  /** The stages are whoever makes it to keep. */
  save(): Json {
    const { stage, over, rewards, signals, renewed, since } = this;
    return { stage, over, rewards, signals, renewed: renewed ?? null, since };
  }
  load(json: unknown): void {
    const { renewed, ...state } = saved.parse(json);
    Object.assign(this, state);
    this.renewed = renewed ?? undefined;
  }
}

const numbers = z.array(z.number());
const saved = z.object({
  stage: z.number(),
  over: z.boolean(),
  rewards: numbers,
  signals: z.array(numbers),
  renewed: numbers.nullable(),
  since: z.number(),
});
