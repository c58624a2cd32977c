/** What reward terms failed with, and what a run that has ended came to. */
import type { JsonObject } from "../../../shared/lib/json.ts";
import { meanOrNull } from "../../../shared/lib/mean.ts";
import { isSettled } from "../../../shared/protocol/runStatus.ts";
import { readFailure, readFailureEvent } from "../../../shared/rollouts/failureText.ts";
import {
  warningsOf,
  type RewardFailure,
  type RunFacts,
  type RunWarning,
} from "../../../shared/run/outcome.ts";
import type { ParamsOf, ResultOf, rewardErrors } from "../../../shared/protocol/protocol.ts";
import { valueAt } from "../../analysis/evidence/json.ts";
import type { MetricQueries } from "./metricQueries.ts";
import type { RecordQueries } from "./recordQueries.ts";
import { effective } from "./runQueries.ts";
import type { RunState } from "../ingest/runState.ts";
import { row, rows, textOf, wholeText, type Statements } from "../drivers/statements.ts";

/** Kinds of failure that a warning looks at. */
const mostFailures = 20;

interface FailureRow {
  readonly message: Buffer;
  readonly count: number;
  readonly first: number;
  readonly last: number;
}

export class OutcomeQueries {
  /** By run: a run that has ended is counted once. */
  private readonly known = new Map<
    string,
    { readonly at: string; readonly warnings: readonly RunWarning[] }
  >();

  constructor(
    private readonly statements: Statements,
    private readonly metrics: MetricQueries,
    private readonly records: RecordQueries,
  ) {}

  /** None of a run that is live: it may still train. */
  warnings(run: RunState): readonly RunWarning[] {
    if (!isSettled(run.status)) return [];
    const at = [run.attempt, run.status, run.step, run.ended_at].join(" ");
    const before = this.known.get(run.id);
    if (before?.at === at) return before.warnings;
    const warnings = warningsOf(this.facts(run));
    this.known.set(run.id, { at, warnings });
    return warnings;
  }

  /** The run's failures by term and message, the most frequent first. */
  rewardErrors({ run, limit }: ParamsOf<typeof rewardErrors>): ResultOf<typeof rewardErrors> {
    const failures = this.failures(run);
    return {
      failures: failures.slice(0, limit),
      kinds: failures.length,
      failed: this.failed(run),
      rollouts: this.rollouts(run),
      otherErrors:
        row<{ n: number }>(
          this.statements
            .of(
              `SELECT count(*) AS n FROM event r ${effective} WHERE r.run = ? AND r.severity = 'error' AND r.name <> 'reward-error'`,
            )
            .get(run),
        )?.n ?? 0,
    };
  }

  failures(run: string): readonly RewardFailure[] {
    const found = rows<FailureRow>(
      this.statements
        .of(
          `SELECT ${wholeText("r.message", "message")}, sum(coalesce(json_extract(r.data, '$.count'), 1)) AS count, min(r.step) AS first, max(r.step) AS last FROM event r ${effective} WHERE r.run = ? AND r.name = 'reward-error' GROUP BY r.message`,
        )
        .all(run),
    );
    const merged = new Map<string, RewardFailure>();
    for (const { message, count, first, last } of found) {
      const event = readFailureEvent(textOf(message));
      const key = `${event.term}\0${event.message}`;
      const same = merged.get(key);
      const { text, ...place } = readFailure(event.message);
      merged.set(key, {
        term: event.term,
        message: text,
        count: count + (same?.count ?? 0),
        first: Math.min(first, same?.first ?? first),
        last: Math.max(last, same?.last ?? last),
        ...place,
      });
    }
    return [...merged.values()].sort((one, other) => other.count - one.count);
  }

  /** By term, of those that failed at all. */
  private failed(run: string): Record<string, number> {
    const names = this.metrics.names({ run }).names.filter((name) => /^reward\/.+\/errors$/.test(name));
    const points = this.metrics.whole(run, names, -1);
    const sums = names.map(
      (name, i) => [name.slice("reward/".length, -"/errors".length), total(points[i]!.values)] as const,
    );
    return Object.fromEntries(sums.filter(([, sum]) => sum > 0));
  }

  private rollouts(run: string): number {
    return (
      row<{ n: number | null }>(
        this.statements.of(`SELECT sum(r.size) AS n FROM grp r ${effective} WHERE r.run = ?`).get(run),
      )?.n ?? 0
    );
  }

  private facts(run: RunState): RunFacts {
    const { id } = run;
    const names = [
      ...(["groups/drawn", "tokens/trained", "groups/admitted", "update/grad_norm"] as const),
      ...(["groups/all_wrong", "rollout/truncated"] as const),
    ];
    const [drawn, trained, admitted, norms, wrong, truncated] = this.metrics.whole(id, names, -1);
    const rolledOut = drawn!.steps.length > 0;
    // A warm-up that trained does not make up for rewards that trained nothing.
    const counted = new Set(rolledOut ? drawn!.steps : trained!.steps);
    const own = ({ steps, values }: NonNullable<typeof drawn>): number[] =>
      [...values].filter((_, i) => counted.has(steps[i]!));
    const gradients = own(norms!);
    return {
      steps: counted.size,
      rolledOut,
      trained: trained!.steps.length === 0 ? null : total(own(trained!)),
      admitted: admitted!.steps.length === 0 ? null : total(own(admitted!)),
      moved: gradients.length === 0 ? null : gradients.some((norm) => norm !== 0),
      rollouts: this.rollouts(id),
      wrong: meanOrNull(own(wrong!).filter(Number.isFinite)),
      truncated: meanOrNull(own(truncated!).filter(Number.isFinite)),
      limit: limitOf(run),
      failed: this.failed(id),
      failures: this.failures(id).slice(0, mostFailures),
      evaluations: this.records.evaluations({ run: id }).evaluations,
      prompts: this.prompts(run),
    };
  }

  /** As many as there were: a run that finds fewer than it was asked for says so once. */
  private prompts({ id, config, origin }: RunState): number | null {
    // What another trainer asked is not in a config that was converted from its own.
    if (origin !== null) return null;
    const fewer = row<{ message: string }>(
      this.statements
        .of("SELECT message FROM event WHERE run = ? AND name = 'few-held-out' ORDER BY attempt DESC LIMIT 1")
        .get(id),
    );
    const found = /\d+/.exec(fewer?.message ?? "");
    const resolved: JsonObject = JSON.parse(config);
    const asked = valueAt(resolved, ["evaluation", "prompts"]);
    return found !== null ? Number(found[0]) : typeof asked === "number" ? asked : null;
  }
}

function limitOf({ config }: RunState): number | null {
  const resolved: JsonObject = JSON.parse(config);
  const limit = valueAt(resolved, ["rollout", "max_tokens"]);
  return typeof limit === "number" ? limit : null;
}

const total = (values: ArrayLike<number>): number =>
  Array.from(values).reduce((sum, value) => sum + (Number.isFinite(value) ? value : 0), 0);
