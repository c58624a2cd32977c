import { z } from "zod";
import { sampler, param } from "../../../../core/declaration.ts";
import type { Random } from "../../../../lib/random.ts";
import type { Saved } from "../../../../core/basics.ts";
import { lastAtMost, ranked } from "../../../../lib/ordering.ts";
import type { ArmBeliefs } from "../../../../core/slots/arms.ts";
import type { Outcome } from "../../../../core/slots/curriculum.ts";
import type { ArmPool, FastSampler } from "../../../../core/slots/fastArms.ts";
import { singly } from "../../fast/armClasses.ts";
import { armColumns, classColumns, Columns, shares } from "../../fast/columns.ts";
import { drawApart } from "../../fast/independent.ts";
import { drawFrom } from "../../fast/lifted.ts";
import { SumTree } from "../../fast/sumTree.ts";
import { mean } from "../../../../../shared/lib/mean.ts";

const params = z.object({
  order: param(z.enum(["descending", "ascending"]).default("descending"), "What comes first."),
  width: param(z.number().positive().default(1000), "σ, in ranks."),
  step: param(z.number().min(0).default(500), "n, in ranks."),
  sensitivity: param(z.number().positive().default(2), "α."),
  target: param(z.number().default(0.5), "β, the success rate above which the place moves on."),
  by_value: param(
    z.number().default(0),
    "w: how much the mean value of the step's arms moves it; 1 in the source, whose values are angles.",
  ),
});
type Options = z.output<typeof params>;

/** Beyond this many widths a weight is below the precision of a double relative to the largest. */
const reach = 9;

/** Classes in the order of the window, and the rank of the first arm of each. */
interface Ranking {
  readonly version: object;
  readonly classes: Uint32Array;
  readonly from: Uint32Array;
  readonly size: number;
}

class GaussianWindow implements FastSampler {
  readonly classes = { reads: ["estimate"] } as const;
  private centre = 0;
  private ranking: Ranking | undefined;

  constructor(private readonly options: Options) {}

  private weight(rank: number): number {
    return Math.exp(-0.5 * ((rank - this.centre) / this.options.width) ** 2);
  }

  /** Recomputed only when an estimate has changed. */
  private rankingOf(columns: Columns): Ranking {
    const { classes } = columns;
    if (this.ranking?.version === classes.version) return this.ranking;
    const sign = this.options.order === "ascending" ? 1 : -1;
    const order = ranked(columns.estimates.map((one) => sign * one));
    const from = new Uint32Array(order.length);
    let size = 0;
    for (let rank = 0; rank < order.length; rank++) {
      from[rank] = size;
      size += classes.arms[order[rank]!]!;
    }
    return (this.ranking = { version: classes.version, classes: order, from, size });
  }

  probabilities(pool: ArmPool): Float64Array {
    return this.shares(armColumns(pool));
  }
  /** @param columns a row per arm */
  private shares(columns: Columns): Float64Array {
    const weights = new Float64Array(columns.size);
    this.rankingOf(columns).classes.forEach((arm, rank) => (weights[arm] = this.weight(rank)));
    return shares(weights, columns.open);
  }

  draw(pool: ArmPool, n: number, random: Random): number[] {
    if (!pool.once) return drawFrom(this.probabilities(pool), n, random);
    const columns = classColumns(pool);
    const ranking = this.rankingOf(columns);
    const had = new Set<number>();
    for (let i = 0; i < n; i++) {
      const arm = this.accepted(pool, columns, ranking, had, random.fork(i));
      if (arm === undefined) return [...had, ...this.theRest(pool, had, n - i, random.fork("rest"))];
      had.add(arm);
    }
    return [...had];
  }

  /** A uniform rank of the window, accepted with the probability of its weight; undefined: nothing likely is left. */
  private accepted(
    pool: ArmPool,
    { classes }: Columns,
    { classes: order, from, size }: Ranking,
    had: ReadonlySet<number>,
    random: Random,
  ): number | undefined {
    const low = Math.max(0, Math.ceil(this.centre - reach * this.options.width));
    const high = Math.min(size - 1, Math.floor(this.centre + reach * this.options.width));
    for (let i = 0; i < 1000 && low <= high; i++) {
      const rank = low + random.integer(high - low + 1);
      if (random.next() >= this.weight(rank)) continue;
      const at = lastAtMost(from, rank);
      const arm = classes.member(order[at]!, rank - from[at]!);
      if (pool.isOpen(arm) && !had.has(arm)) return arm;
    }
    return undefined;
  }

  /** Draws in proportion to the weights of all arms left. */
  private theRest(pool: ArmPool, had: ReadonlySet<number>, n: number, random: Random): number[] {
    const open = pool.open.map((is, arm) => (had.has(arm) ? 0 : is));
    const columns = new Columns(pool, singly({ size: pool.size, open }));
    const weights = this.shares(columns);
    return drawApart(columns.classes, weights, new SumTree(weights), n, random);
  }

  learn(outcomes: readonly Outcome[], { size }: ArmBeliefs): void {
    const scored = outcomes.map(({ group }) => group).filter(({ rewards }) => rewards.length > 0);
    if (scored.length === 0) return;
    const { step, sensitivity, target, by_value } = this.options;
    const rate = mean(scored.map(({ successes, rewards }) => successes / rewards.length));
    // Some signals measure nothing when an arm is drawn for the first time.
    const drawn = outcomes.map(({ estimate }) => estimate).filter(Number.isFinite);
    const angle = by_value === 0 || drawn.length === 0 ? 0 : by_value * mean(drawn);
    const moved = step * Math.tanh(sensitivity * (rate - target)) + step * Math.tanh(sensitivity * angle);
    const most = 2 * step;
    this.centre = Math.min(size - 1, this.centre + Math.min(most, Math.max(0, moved)));
  }

  save(): Saved {
    return { json: this.centre };
  }
  load({ json }: Saved): void {
    this.centre = Number(json);
  }
}

export const gaussianWindow = sampler({
  name: "gaussian_window",
  summary:
    "Draws around a position in the order of the arms; the position moves forward as the policy succeeds, never back.",
  formula:
    "p(a) ∝ exp(−(rank(a) − μ)²/2σ²); μ += clamp(n·tanh(α(p̂ − β)) + n·tanh(α·w·Q̄), 0, 2n), p̂ the step's success rate, Q̄ the mean value of its arms as they are now",
  sources: ["Angles Don't Lie: Unlocking Training-Efficient RL Through the Model's Own Signals"],
  takes: ["estimate"],
  failing: ({ by_value }) =>
    by_value > 0
      ? {
          kept: "moves its window on by what its arms are worth, also onto arms that always fail, and never back",
        }
      : undefined,
  params,
  create: (options) => new GaussianWindow(options),
});
