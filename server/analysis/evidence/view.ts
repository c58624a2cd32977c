/** A run as the kinds of evidence look at it: its last rl stage, and of that the last steps. */
import type { Json } from "../../../shared/lib/json.ts";
import type { RunSummary } from "../../../shared/protocol/protocol.ts";
import { segments } from "../../config/address.ts";
import { effective, isObject, valueAt } from "./json.ts";
import type { GroupTally, MetricPoints, RunRecord } from "./record.ts";

export interface StageSpan {
  readonly name: string;
  /** Of the run's steps: first, and one after the last. */
  readonly from: number;
  readonly to: number;
}

const none: MetricPoints = { steps: new Float64Array(), values: new Float64Array() };

export class RunView {
  readonly summary: RunSummary;
  /** rl stages that have started, in order; a run made elsewhere may name none. */
  readonly spans: readonly StageSpan[];
  readonly span: StageSpan;
  /** The stage's name as the config knows it; null where the config has no stages. */
  readonly stage: string | null;
  private readonly from: number;

  /** @param window steps looked back on */
  constructor(
    readonly record: RunRecord,
    readonly window: number,
  ) {
    this.summary = record.summary;
    this.spans = spansOf(record);
    const end = record.summary.step + 1;
    this.span = this.spans.at(-1) ?? { name: "", from: 0, to: end };
    const written = valueAt(record.config, ["stages", this.span.name]);
    this.stage = isObject(written) ? this.span.name : null;
    this.from = Math.max(this.span.from, Math.min(this.span.to, end) - window);
  }

  get metrics(): readonly string[] {
    return Object.keys(this.record.series);
  }

  /** What the run's config had, in the stage that is looked at. */
  value(path: string): Json | undefined {
    return effective(this.record.config, this.stage, path);
  }
  number(path: string): number | undefined {
    const value = this.value(path);
    return typeof value === "number" ? value : undefined;
  }
  text(path: string): string | undefined {
    const value = this.value(path);
    return typeof value === "string" ? value : undefined;
  }
  keys(path: string): readonly string[] {
    const value = this.value(path);
    return isObject(value) ? Object.keys(value) : [];
  }
  /** Where the run's config wrote the value: in the stage, or at top level. */
  at(path: string): string {
    const own = this.stage === null ? undefined : ["stages", this.stage, ...segments(path)];
    return own !== undefined && valueAt(this.record.config, own) !== undefined
      ? `stages.${this.stage}.${path}`
      : path;
  }

  /** A metric's points in the stage. */
  points(metric: string): MetricPoints {
    return cut(this.record.series[metric] ?? none, this.span.from, this.span.to);
  }
  /** Those of the last steps. */
  recent(metric: string): MetricPoints {
    return cut(this.record.series[metric] ?? none, this.from, this.span.to);
  }
  last(metric: string): number | undefined {
    const value = this.points(metric).values.at(-1);
    return value === undefined || Number.isNaN(value) ? undefined : value;
  }

  get groups(): readonly GroupTally[] {
    return this.record.groups.filter(({ step }) => step >= this.from && step < this.span.to);
  }
  /** Rollouts of the last steps, by step. */
  get rollouts(): ReadonlyMap<number, number> {
    const counts = new Map<number, number>();
    for (const { step, rollouts } of this.groups) counts.set(step, (counts.get(step) ?? 0) + rollouts);
    return counts;
  }

  /** "the last 100 steps", or "40 steps" where the stage has no more. */
  over(count: number): string {
    if (count === 1) return "1 step";
    const whole = Math.min(this.span.to, this.summary.step + 1) - this.span.from;
    return count < whole ? `the last ${count} steps` : `${count} steps`;
  }

  /** The run's step at which the clock of the rl stages is at `clock`; undefined where it has not got there. */
  stepAt(clock: number): number | undefined {
    let left = clock;
    for (const { from, to } of this.spans.length === 0 ? [this.span] : this.spans) {
      const end = Math.min(to, this.summary.step + 1);
      if (left < end - from) return from + left;
      left -= end - from;
    }
    return undefined;
  }
}

function spansOf({ stages, summary }: RunRecord): StageSpan[] {
  return stages.flatMap(({ step, name, kind }, index) =>
    kind === "rl" && step <= summary.step
      ? [{ name, from: step, to: stages[index + 1]?.step ?? Number.POSITIVE_INFINITY }]
      : [],
  );
}

export function cut({ steps, values }: MetricPoints, from: number, to: number): MetricPoints {
  let [begin, end] = [0, steps.length];
  while (begin < end && steps[begin]! < from) begin++;
  while (end > begin && steps[end - 1]! >= to) end--;
  return { steps: steps.subarray(begin, end), values: values.subarray(begin, end) };
}
