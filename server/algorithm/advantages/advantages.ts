/**
 * From combined rewards to an advantage per token:
 *   baseline × scale at a level, source by source or of their sum → returns to go → whitening → sign → filter → tokens.
 */
import { valueAt } from "../../core/schedule.ts";
import type { StageBody } from "../../core/config/resolved.ts";
import type { KlTerm } from "../../core/slots/kl.ts";
import type { Clock, Saved, Stateful } from "../../core/basics.ts";
import type { Batch } from "../../core/rollouts.ts";
import type { Stats } from "../../core/policy.ts";
import type { Combined, RewardColumn } from "../../core/reward.ts";
import type {
  AdvantageBaseline,
  AdvantageChannel,
  AdvantageInput,
  AdvantageLevel,
  AdvantageScale,
  Units,
} from "../../core/slots/advantage.ts";
import { clippedTo } from "../../methods/advantage/clip.ts";
import { Moments } from "../../lib/moments.ts";
import { returnsToGo, underOwnDiscount } from "../../methods/advantage/returns.ts";
import {
  coarser,
  Earned,
  placed,
  rewardsOfUnits,
  spreadOver,
  type RewardSource,
} from "../../methods/advantage/sources.ts";
import { unitsOf } from "../../methods/advantage/units.ts";
import { create } from "../../core/create.ts";
import { finished, type Valued } from "./finishing.ts";
import { Penalty } from "../rewards/penalty.ts";
import { Space } from "../space.ts";
import type { Advantages } from "./tokenAdvantages.ts";
import type { CreateContext } from "../../core/declaration.ts";

/** What all stages of one call share. */
interface Step {
  readonly batch: Batch;
  readonly stats: Stats;
  readonly clock: Clock;
  readonly gamma: number;
  readonly column: AdvantageInput["column"];
}

/** Rows of each group that train and have a reward. */
function groupsWithRewards(totals: Float64Array, { group, groups, records }: Batch): readonly Int32Array[] {
  const rows: number[][] = Array.from({ length: groups }, () => []);
  totals.forEach((total, row) => {
    if (!Number.isNaN(total) && records[row]!.use === "train") rows[group[row]!]!.push(row);
  });
  return rows.filter((list) => list.length > 0).map((list) => Int32Array.from(list));
}

/** What advantages need of a step before they can be computed. */
export interface AdvantageNeeds {
  /** Channels that must be scored, and put among the stats, before `advantages`. */
  readonly scores: readonly AdvantageChannel[];
  /** One greedy response per task; its reward goes into `rowColumns.reward_baseline`. */
  readonly greedy: boolean;
  /** Continuations from the start of each step of a rollout; their mean rewards go into `values`. */
  readonly branches: AdvantageBaseline["branches"];
}

export class AdvantageChain implements Stateful {
  readonly needs: AdvantageNeeds;
  private readonly baseline: AdvantageBaseline;
  private readonly scale: AdvantageScale;
  private readonly level: AdvantageLevel;
  private readonly space = new Space();

  constructor(
    private readonly config: StageBody["advantage"],
    private readonly penalties: readonly KlTerm[],
    context: CreateContext,
  ) {
    this.baseline = create(config.baseline, context);
    const { channels = [], greedy = false, branches } = this.baseline;
    this.needs = { scores: channels, greedy, branches };
    this.scale = create(config.scale, context);
    this.level = config.level === "auto" ? (this.baseline.level ?? "response") : config.level;
  }

  /** Advantages come with `returns`: the targets of the critic that they are computed with. */
  get returnsTargets(): boolean {
    return this.baseline.centreWithTargets !== undefined;
  }

  /**
   * A penalty in the reward is a source at token level: over a whole response it is the sum over the trained tokens,
   * taken off before the baseline; apart from the reward it is never centred. `stats` holds the columns of
   * generation (`logp`, `logp:<model>`) and the channels that it needs. `batch` is masked.
   * @param reuse the caller is done with them before it asks so again: they may be written to the same place
   */
  advantages(combined: Combined, batch: Batch, stats: Stats, clock: Clock, reuse = false): Advantages {
    const column: Step["column"] = (name, size) =>
      reuse ? this.space.column(name, size) : new Float64Array(size);
    const step: Step = { batch, stats, clock, gamma: valueAt(this.config.gamma, clock), column };
    const penalty = Penalty.of(this.penalties, batch, stats, clock);
    const apart = penalty !== undefined && (this.config.per_source || this.config.penalty === "apart");
    const totals = rowTotals(combined, apart ? undefined : penalty);
    const { valued, targets } = this.config.per_source
      ? { valued: this.bySource(combined, totals, step), targets: undefined }
      : this.ofSum(combined, totals, apart ? undefined : penalty, step);
    const charged = apart ? this.charge(valued, penalty, step) : valued;
    return finished(this.config, charged, targets, { totals, errored: combined.errored }, step);
  }

  /** The rewards' sum, centred and scaled at the chain's level. */
  private ofSum(
    combined: Combined,
    totals: Float64Array,
    penalty: Penalty | undefined,
    step: Step,
  ): { valued: Valued; targets: Float64Array | undefined } {
    const units = unitsOf(step.batch, this.level);
    const own = this.baseline.returns === "own";
    const earned = this.earned(combined, units, totals, penalty, step);
    const togo = !own && this.config.returns === "before";
    const moments = new Moments();
    const input = this.input(
      units,
      togo ? this.toGo(columnOf(earned), units, step) : earned,
      totals,
      step,
      moments,
    );
    const { centred, targets } = this.baseline.centreWithTargets?.(input) ?? {
      centred: this.baseline.centre(input),
      targets: undefined,
    };
    const scaled = clippedTo(this.scale(centred, input), this.config.clip);
    const values = !own && this.config.returns === "after" ? this.toGo(scaled, units, step) : scaled;
    const asTheyAre = values === centred && this.config.scale.declaration.name === "none";
    return {
      valued: { units, values, moments: asTheyAre ? moments : undefined },
      targets: targets && spreadOver(targets, units, step.batch, Number.NaN),
    };
  }

  /** Every source centred and scaled alone, at its own level where that is coarser, then weighed and summed. */
  private bySource(combined: Combined, totals: Float64Array, step: Step): Valued {
    const units = unitsOf(step.batch, this.level);
    const sum = new Float64Array(units.count);
    combined.sources.forEach((column, i) => {
      const weight = combined.weights?.[i] ?? 1;
      if (weight === 0) return;
      const source: RewardSource = { column, weight };
      const level = coarser(column.level, this.level);
      const own = level === this.level ? units : unitsOf(step.batch, level);
      const values = this.ofSource(source, own, totals, step);
      const spread = level === this.level ? values : placed(values, own, units, this.config.returns);
      if (this.config.returns === "after") this.discountApart(spread, column, units, step);
      for (let unit = 0; unit < sum.length; unit++)
        if (!Number.isNaN(spread[unit]!)) sum[unit]! += weight * spread[unit]!;
    });
    const values =
      this.config.returns === "after" && this.baseline.returns !== "own" ? this.toGo(sum, units, step) : sum;
    // A row without any reward has no advantage, whatever its sources add up to.
    return {
      units,
      values: values.map((value, unit) => (Number.isNaN(totals[units.row[unit]!]!) ? Number.NaN : value)),
    };
  }

  /** A source with a discount of its own, as rewards that the chain's discount makes its returns of. In place. */
  private discountApart(
    values: Float64Array,
    { gamma: own }: RewardColumn,
    units: Units,
    { gamma, batch }: Step,
  ): void {
    if (own === undefined || own === gamma || units.level === "response") return;
    const { observations } = this.config;
    for (let row = 0; row < batch.rows; row++)
      underOwnDiscount(values, 0, units, row, own, { gamma, observations });
  }

  private ofSource(
    { column, weight }: RewardSource,
    units: Units,
    all: Float64Array,
    step: Step,
  ): Float64Array {
    const { batch } = step;
    const totals = new Float64Array(batch.rows).fill(Number.NaN);
    const earned = rewardsOfUnits(
      { columns: [column], units, totals: all, batch, penalty: undefined },
      totals,
    );
    for (let unit = 0; unit < earned.length; unit++) earned[unit]! /= weight;
    for (let row = 0; row < totals.length; row++) totals[row]! /= weight;
    const rewards =
      this.config.returns === "before" && this.baseline.returns !== "own"
        ? this.toGo(earned, units, { ...step, gamma: column.gamma ?? step.gamma })
        : earned;
    const input = this.input(units, rewards, totals, step);
    return this.scale(this.baseline.centre(input), input);
  }

  private earned(
    { sources }: Combined,
    units: Units,
    totals: Float64Array,
    penalty: Penalty | undefined,
    { batch, gamma }: Step,
  ): Float64Array | Earned {
    if (units.level === "response") return totals;
    const discount = { gamma, observations: this.config.observations };
    return new Earned(
      { columns: sources, units, totals, batch, penalty: penalty?.tokens(), discount },
      (size) => this.space.column("rewards", size).fill(0),
    );
  }

  private input(
    units: Units,
    rewards: Float64Array | Earned,
    totals: Float64Array,
    step: Step,
    moments?: Moments,
  ): AdvantageInput {
    const { observations } = this.config;
    const groups = groupsWithRewards(totals, step.batch);
    const summed = this.config.returns === "after";
    const more = { summed, ...(moments && { moments }) };
    if (rewards instanceof Float64Array)
      return { ...step, ...more, units, rewards, totals, observations, groups };
    return {
      ...step,
      ...more,
      units,
      get rewards() {
        return rewards.column;
      },
      rewardsOf: (row) => rewards.row(row),
      totals,
      observations,
      groups,
    };
  }

  private toGo(values: Float64Array, units: Units, { gamma }: Step): Float64Array {
    return returnsToGo(values, units, gamma, this.config.observations);
  }

  /** Takes a penalty per token off the advantages, as its own returns to go. */
  private charge({ units, values }: Valued, penalty: Penalty, step: Step): Valued {
    const tokens = units.level === "token" ? units : unitsOf(step.batch, "token");
    const taken = penalty.tokens();
    const costs = Float64Array.from(tokens.start, (t) => -taken[t]!);
    const later = this.toGo(costs, tokens, step);
    const known = spreadOver(values, units, step.batch, Number.NaN);
    return { units: tokens, values: later.map((cost, unit) => known[tokens.start[unit]!]! + cost) };
  }

  /** Once a step, after its advantages: baselines that remember learn what was earned. */
  observe({ total, errored }: Combined, batch: Batch): void {
    this.baseline.observe?.(
      total.map((value, row) => (errored[row] === 1 ? Number.NaN : value)),
      batch,
    );
  }

  save(): Saved {
    return this.baseline.save?.() ?? { json: null };
  }

  load(saved: Saved): void {
    if (saved.json !== null) this.baseline.load?.(saved);
  }
}

const columnOf = (earned: Float64Array | Earned): Float64Array =>
  earned instanceof Earned ? earned.column : earned;

/** A row's whole reward, the penalty off its trained tokens taken off; NaN where it has none or a term failed. */
function rowTotals({ total, errored }: Combined, penalty: Penalty | undefined): Float64Array {
  const charged = penalty?.rows();
  return total.map((value, row) => (errored[row] === 1 ? Number.NaN : value - (charged?.[row] ?? 0)));
}
