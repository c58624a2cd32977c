/** Questions about metrics: which there are, and their series. */
import type {
  ParamsOf,
  ResultOf,
  Series,
  metricsNames,
  metricsSeries,
} from "../../../shared/protocol/protocol.ts";
import { bucketed, type ReadParts, type ReadWindow } from "./bucketed.ts";
import { levelParts, type LevelPart } from "./levelled.ts";
import { joined, readPoints, type PointArrays } from "../ingest/points.ts";
import type { RunQueries } from "./runQueries.ts";
import { reduce } from "./series.ts";
import { Smoother } from "./smoother.ts";
import { row, rows, type Statements } from "../drivers/statements.ts";

/** Beyond every step. */
const never = Number.MAX_SAFE_INTEGER;

interface Attempt {
  readonly attempt: number;
  readonly superseded_from: number | null;
}

export class MetricQueries {
  constructor(
    private readonly statements: Statements,
    private readonly runs: RunQueries,
  ) {}

  names({ run }: ParamsOf<typeof metricsNames>): ResultOf<typeof metricsNames> {
    this.runs.existing(run);
    return {
      names: rows<{ name: string }>(
        this.statements.of("SELECT name FROM series WHERE run = ? ORDER BY name").all(run),
      ).map(({ name }) => name),
    };
  }

  series(parameters: ParamsOf<typeof metricsSeries>): ResultOf<typeof metricsSeries> {
    const slices = this.seriesInSlices(parameters);
    for (;;) {
      const slice = slices.next();
      if (slice.done === true) return slice.value;
    }
  }

  /** Yields every few milliseconds of reading, where another question may be answered. */
  *seriesInSlices({
    run: id,
    metrics,
    from,
    to = never - 1,
    maxPoints,
    buckets,
    stacks = [],
    smooth = 0,
  }: ParamsOf<typeof metricsSeries>): Generator<void, ResultOf<typeof metricsSeries>> {
    const run = this.runs.existing(id);
    const attempts = this.attempts(id);
    if (buckets !== undefined) {
      const wanted = {
        metrics,
        stacks,
        first: from + 1,
        last: Math.min(to, run.step),
        most: buckets,
        smooth,
      };
      const read: ReadWindow = (metric, after, before) => this.points(id, metric, attempts, after, before);
      const parts: ReadParts = (metric, after, before) => this.parts(id, metric, attempts, after, before);
      return { series: yield* bucketed(wanted, read, parts), step: run.step };
    }
    const series: Series[] = [];
    for (const metric of metrics) {
      const points =
        smooth > 0
          ? this.smoothed(id, metric, attempts, from, to, smooth)
          : this.points(id, metric, attempts, from, to + 1);
      series.push({ metric, ...reduce(points, maxPoints), total: points.steps.length });
      yield;
    }
    return { series, step: run.step };
  }

  /** Averaged over the whole run up to there, and then of that a part. */
  private smoothed(
    run: string,
    metric: string,
    attempts: readonly Attempt[],
    after: number,
    to: number,
    factor: number,
  ): PointArrays {
    const { steps, values } = new Smoother(factor).smoothed(this.points(run, metric, attempts, -1, to + 1));
    const begin = steps.findIndex((step) => step > after);
    return begin < 0
      ? { steps: new Float64Array(), values: new Float64Array() }
      : { steps: steps.subarray(begin), values: values.subarray(begin) };
  }

  /** Every point of each metric after a step, as it was recorded. */
  whole(run: string, metrics: readonly string[], after: number): readonly PointArrays[] {
    return this.between(run, metrics, after, never);
  }

  /** Points with `after` < step < `before`, as they were recorded. */
  between(run: string, metrics: readonly string[], after: number, before: number): readonly PointArrays[] {
    const attempts = this.attempts(run);
    return metrics.map((metric) => this.points(run, metric, attempts, after, before));
  }

  private attempts(run: string): readonly Attempt[] {
    return rows<Attempt>(
      this.statements
        .of("SELECT attempt, superseded_from FROM attempt WHERE run = ? ORDER BY attempt")
        .all(run),
    );
  }

  /** The same as `points`, part by part; false where parts overlap in steps. */
  private *parts(
    run: string,
    metric: string,
    attempts: readonly Attempt[],
    after: number,
    before: number,
  ): Generator<LevelPart, boolean> {
    const id = this.seriesId(run, metric);
    let end = Number.NEGATIVE_INFINITY;
    for (const { attempt, superseded_from } of attempts) {
      const parts = levelParts(
        this.statements,
        id,
        attempt,
        after,
        Math.min(before, superseded_from ?? never),
      );
      for (let part = parts.next(); ; part = parts.next()) {
        if (part.done === true) {
          if (!part.value) return false;
          break;
        }
        const { first, last } = part.value;
        if (first <= end) return false;
        end = Math.max(end, last);
        yield part.value;
      }
    }
    return true;
  }

  private seriesId(run: string, metric: string): number {
    return (
      row<{ id: number }>(
        this.statements.of("SELECT id FROM series WHERE run = ? AND name = ?").get(run, metric),
      )?.id ?? -1
    );
  }

  /** Of all attempts, each up to where a later one began again. */
  private points(
    run: string,
    metric: string,
    attempts: readonly Attempt[],
    after: number,
    before: number,
  ): PointArrays {
    const id = this.seriesId(run, metric);
    return joined(
      attempts.map(({ attempt, superseded_from }) =>
        readPoints(this.statements, id, attempt, after, Math.min(before, superseded_from ?? never)),
      ),
    );
  }
}
