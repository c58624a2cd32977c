/** Questions about metrics: which there are, and their series. */
import type { ParamsOf, ResultOf, Series, metricsNames, metricsSeries } from "../../shared/protocol.ts";
import { joined, readPoints, type PointArrays } from "./points.ts";
import type { RunQueries } from "./runQueries.ts";
import { reduce } from "./series.ts";
import { row, rows, type Statements } from "./statements.ts";

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
    this.runs.known(run);
    return {
      names: rows<{ name: string }>(
        this.statements.of("SELECT name FROM series WHERE run = ? ORDER BY name").all(run),
      ).map(({ name }) => name),
    };
  }

  series({
    run: id,
    metrics,
    from,
    to,
    maxPoints,
  }: ParamsOf<typeof metricsSeries>): ResultOf<typeof metricsSeries> {
    const run = this.runs.known(id);
    const attempts = this.attempts(id);
    const series = metrics.map((metric): Series => {
      const points = this.points(id, metric, attempts, from, to === undefined ? never : to + 1);
      return { metric, ...reduce(points, maxPoints), total: points.steps.length };
    });
    return { series, step: run.step };
  }

  /** Every point of each metric after a step, as it was recorded. */
  whole(run: string, metrics: readonly string[], after: number): readonly PointArrays[] {
    const attempts = this.attempts(run);
    return metrics.map((metric) => this.points(run, metric, attempts, after, never));
  }

  private attempts(run: string): readonly Attempt[] {
    return rows<Attempt>(
      this.statements
        .of("SELECT attempt, superseded_from FROM attempt WHERE run = ? ORDER BY attempt")
        .all(run),
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
    const found = row<{ id: number }>(
      this.statements.of("SELECT id FROM series WHERE run = ? AND name = ?").get(run, metric),
    );
    return joined(
      (found === undefined ? [] : attempts).map(({ attempt, superseded_from }) =>
        readPoints(
          this.statements,
          found?.id ?? -1,
          attempt,
          after,
          Math.min(before, superseded_from ?? never),
        ),
      ),
    );
  }
}
