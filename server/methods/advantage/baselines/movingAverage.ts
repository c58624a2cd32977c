import { z } from "zod";
import { baseline, param } from "../../../core/declaration.ts";
import type { Saved } from "../../../core/basics.ts";
import type { Batch } from "../../../core/rollouts.ts";
import { quantile } from "../quantile.ts";
import type { AdvantageBaseline } from "../../../core/slots/advantage.ts";

const params = z.object({
  by: param(z.enum(["all", "arm", "task"]).default("all"), "Which rewards share an average."),
  decay: param(
    z.number().min(0).lt(1).optional(),
    "ρ; without it and `window`, all earlier rewards count alike.",
  ),
  window: param(z.number().int().min(1).optional(), "Number of latest rewards that count."),
  quantile: param(
    z.number().min(0).max(1).optional(),
    "With `window`: a quantile instead of the mean; 0.5 is the median.",
  ),
  start: param(z.number().default(0), "b before the first reward."),
});
type Options = z.output<typeof params>;

/** What is known of the rewards of one key. */
interface Track {
  /** With a window: the last rewards, oldest first. */
  readonly recent: number[];
  value: number;
  count: number;
}

const trackSchema = z.record(
  z.string(),
  z.object({ recent: z.array(z.number()), value: z.number(), count: z.number() }),
);

class MovingAverage implements AdvantageBaseline {
  private tracks = new Map<string, Track>();

  constructor(private readonly options: Options) {}

  centre({ rewards, units, batch }: Parameters<AdvantageBaseline["centre"]>[0]): Float64Array {
    return rewards.map((reward, unit) => reward - this.valueOf(this.keyOf(batch, units.row[unit]!)));
  }

  /** Of each key, the step's mean moves the average once; a window takes every reward. */
  observe(totals: Float64Array, batch: Batch): void {
    const found = new Map<string, number[]>();
    totals.forEach((total, row) => {
      if (Number.isNaN(total) || batch.records[row]!.use !== "train") return;
      const key = this.keyOf(batch, row);
      const known = found.get(key);
      if (known === undefined) found.set(key, [total]);
      else known.push(total);
    });
    for (const [key, values] of found) this.learn(key, values);
  }

  save(): Saved {
    return { json: Object.fromEntries([...this.tracks].map(([key, track]) => [key, { ...track }])) };
  }

  load({ json }: Saved): void {
    this.tracks = new Map(Object.entries(trackSchema.parse(json)));
  }

  private keyOf({ records }: Batch, row: number): string {
    const { arm, task } = records[row]!;
    return this.options.by === "all" ? "" : this.options.by === "arm" ? arm : task.id;
  }

  private valueOf(key: string): number {
    const track = this.tracks.get(key);
    return track === undefined || track.count === 0 ? this.options.start : track.value;
  }

  private learn(key: string, values: readonly number[]): void {
    const { decay, window, quantile: q } = this.options;
    const track = this.tracks.get(key) ?? { recent: [], value: this.options.start, count: 0 };
    this.tracks.set(key, track);
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    if (window !== undefined) {
      track.recent.push(...values);
      track.recent.splice(0, Math.max(0, track.recent.length - window));
      track.value =
        q === undefined
          ? track.recent.reduce((sum, value) => sum + value, 0) / track.recent.length
          : quantile(track.recent, q);
    } else if (decay !== undefined)
      track.value = track.count === 0 ? mean : decay * track.value + (1 - decay) * mean;
    else track.value = (track.count * track.value + values.length * mean) / (track.count + values.length);
    track.count += values.length;
  }
}

export const movingAverage = baseline({
  name: "moving_average",
  summary:
    "Reward minus the average of earlier steps' rewards: of all, or of those of the same arm or task. The step's own rewards count from the next step on.",
  formula: "A = r − b, b ← ρ b + (1 − ρ) mean r (or the mean, or a quantile, of the last n rewards)",
  sources: [
    "Back to Basics: Revisiting REINFORCE Style Optimization for Learning from Human Feedback in LLMs",
    "Learn the Ropes, Then Trust the Wins: Self-imitation with Progressive Exploration for Agentic Reinforcement Learning",
  ],
  params,
  create: (options) => new MovingAverage(options),
});
