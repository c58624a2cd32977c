/** What evidence on a config's lines is made of: one answer for all of it, of the last run that has made a step. */
import { constantSince } from "../../analysis/evidence/kinds/constant.ts";
import { valueAt } from "../../analysis/evidence/json.ts";
import type { Json, JsonObject } from "../../../shared/lib/json.ts";
import {
  longest,
  type MetricPoints,
  type RunRecord,
  type TermSpread,
} from "../../analysis/evidence/record.ts";
import type { RecordPlace } from "../../../shared/log/recordAt.ts";
import type { RunSummary } from "../../../shared/protocol/protocol.ts";
import { groupTallies } from "./groupTallies.ts";
import type { MetricQueries } from "./metricQueries.ts";
import type { OutcomeQueries } from "./outcomeQueries.ts";
import type { RecordQueries } from "./recordQueries.ts";
import { effective, type RunQueries } from "./runQueries.ts";
import { isRunIdSql, row, rows, type Statements } from "../drivers/statements.ts";
import type { VerdictQueries } from "./verdictQueries.ts";
import type { UnreadRollouts } from "./unreadRollouts.ts";

/** A term is looked at rollout by rollout only where its mean has not moved for so many steps. */
const still = 10;

/** Metrics that some kind of evidence looks at, or draws. */
const spokenOf =
  /^(reward\/|groups\/|policy\/|eval\/(pass@\d+|greedy)$|update\/(grad_norm|clip_fraction)$|rollout\/truncated$|value\/(mean|explained_variance)$|memory\/(peak|predicted|rss)$|time\/total$|tokens\/)/;

/** As many as a diagnostic has room for, of all terms. */
const kindsOfFailure = 50;

export interface FileRuns {
  /** The last run of the file, whatever became of it. */
  readonly last: RunSummary | null;
  /** The last that has made a step. */
  readonly record: RunRecord | null;
}

export class EvidenceQueries {
  constructor(
    private readonly statements: Statements,
    private readonly runs: RunQueries,
    private readonly metrics: MetricQueries,
    private readonly records: RecordQueries,
    private readonly unread: UnreadRollouts,
    private readonly outcomes: OutcomeQueries,
    private readonly verdicts: VerdictQueries,
  ) {}

  /** @param files one config by its paths: as it was opened, and with links resolved */
  fileRuns(files: readonly string[]): FileRuns {
    const [last, stepped] = this.lastOf(files);
    return { last, record: stepped === null ? null : this.record(stepped) };
  }

  /** Equal as long as `fileRuns` answers the same: for each config, by its paths. */
  fileStamps(configs: readonly (readonly string[])[]): readonly string[] {
    return configs.map((files) =>
      this.lastOf(files)
        .map((run) =>
          run === null
            ? ""
            : [
                run.id,
                run.attempt,
                run.status,
                run.step,
                run.message,
                run.verdict?.state,
                run.verdict?.dismissed?.at,
              ].join(" "),
        )
        .join("\n"),
    );
  }

  /** The last run of a file, and its last that has made a step. */
  private lastOf(files: readonly string[]): readonly [RunSummary | null, RunSummary | null] {
    const chosen = (condition: string): RunSummary | null => {
      const found = row<{ id: string }>(
        this.statements
          .of(
            `SELECT id FROM run WHERE file IN (${files.map(() => "?").join(", ")}) AND ${isRunIdSql("id")}${condition} ORDER BY created_at DESC, id DESC LIMIT 1`,
          )
          .get(...files),
      );
      return found === undefined ? null : this.runs.summary(found.id);
    };
    return [chosen(""), chosen(" AND step >= 0")];
  }

  /** Steps that have groups, or rollouts in another trainer's files, ascending. */
  rolloutSteps(run: string): readonly number[] {
    this.runs.existing(run);
    return rows<{ step: number }>(
      this.statements
        .of(
          `SELECT r.step AS step FROM grp r ${effective} WHERE r.run = ? UNION SELECT r.step FROM placed r ${effective} WHERE r.run = ? AND r.rollouts > 0 ORDER BY step`,
        )
        .all(run, run),
    ).map(({ step }) => step);
  }

  /** Where in the log the rollouts of a step lie that were written to train in it. */
  rolloutPlaces(run: string, step: number): readonly RecordPlace[] {
    this.runs.existing(run);
    // Scoring again needs no rows of another trainer's rollouts, which take longer to make than to read.
    const placed = this.unread.placesIn(run, step);
    if (placed !== undefined) return placed;
    while (this.unread.next(run, { step }));
    return rows<RecordPlace>(
      this.statements
        .of(
          `SELECT r.attempt, r.segment, r.offset, r.line FROM rollout r ${effective} WHERE r.run = ? AND r.step = ? AND coalesce(r.use, 'train') = 'train' AND coalesce(r.source, '') <> 'replay' ORDER BY r.attempt, r.ordinal`,
        )
        .all(run, step),
    );
  }

  /** What scoring a run's rollouts again needs of it. */
  runToRescore(
    run: string,
  ): Pick<RunRecord, "folder" | "authored" | "bundles"> & Pick<RunSummary, "name" | "file"> {
    const detail = this.runs.show({ run });
    const { name, file, folder, authored } = detail;
    return { name, file, folder, authored, bundles: this.bundles(detail) };
  }

  private bundles({ id, attempt }: RunSummary): RunRecord["bundles"] {
    const found = row<{ bundles: string | null }>(
      this.statements.of("SELECT bundles FROM attempt WHERE run = ? AND attempt = ?").get(id, attempt),
    );
    return found === undefined || found.bundles === null ? {} : parse<Record<string, string>>(found.bundles);
  }

  private record(summary: RunSummary): RunRecord {
    const { config, stages, folder, authored } = this.runs.show({ run: summary.id });
    const series = this.series(summary, untilMetrics(config));
    return {
      summary,
      folder,
      authored,
      config,
      stages,
      bundles: this.bundles(summary),
      series,
      groups: groupTallies(this.statements, summary.id, summary.step - longest.groups, summary.step),
      spread: this.spread(summary, series),
      evaluations: this.records.evaluations({ run: summary.id }).evaluations,
      failures: this.outcomes.failures(summary.id).slice(0, kindsOfFailure),
      verdict: this.verdicts.verdict({ run: summary.id }).verdict,
    };
  }

  private series({ id, step }: RunSummary, more: ReadonlySet<string>): Record<string, MetricPoints> {
    const names = this.metrics
      .names({ run: id })
      .names.filter((name) => spokenOf.test(name) || more.has(name));
    const points = this.metrics.whole(id, names, step - longest.metrics);
    return Object.fromEntries(names.map((name, index) => [name, points[index]!]));
  }

  /** Of the terms whose mean does not move: a mean can do so while rollouts differ. */
  private spread({ id }: RunSummary, series: Readonly<Record<string, MetricPoints>>): readonly TermSpread[] {
    const suspects = Object.entries(series).flatMap(([name, points]) => {
      const term = /^reward\/(?!total(?:\/std)?$)(.+?)(?<!\/(?:errors|weight))$/.exec(name)?.[1];
      const since = constantSince(points);
      return term !== undefined && since !== undefined && since.count >= still ? [{ term, points }] : [];
    });
    const last = Math.max(...suspects.map(({ points }) => points.steps.at(-1) ?? -1));
    if (suspects.length === 0 || last < 0) return [];
    while (this.unread.next(id, { step: last }));
    const found = rows<{ name: string; terms: string }>(
      this.statements
        .of(
          `SELECT r.name, r.terms FROM rollout r ${effective} WHERE r.run = ? AND r.step = ? AND r.use = 'train'`,
        )
        .all(id, last),
    ).map(({ name, terms }) => ({ group: name, rewards: parse<RewardedRow>(terms).rewards ?? {} }));
    return suspects.map(({ term }) => ({ term, step: last, ...differing(term, found) }));
  }
}

/** Those that conditions of stages are about. */
function untilMetrics(config: JsonObject): ReadonlySet<string> {
  const { stages } = config;
  return new Set(
    (Array.isArray(stages) ? stages : []).flatMap((stage: Json) => {
      const several = [valueAt(stage, ["until", "any"]), valueAt(stage, ["until", "all"])];
      const conditions = [
        valueAt(stage, ["until"]),
        ...several.flatMap((list) => (Array.isArray(list) ? list : [])),
      ];
      return conditions.flatMap((condition: Json | undefined) => {
        const metric = valueAt(condition ?? null, ["metric"]);
        return typeof metric === "string" ? [metric] : [];
      });
    }),
  );
}

interface RewardedRow {
  readonly rewards?: Readonly<Record<string, unknown>>;
}

function differing(
  term: string,
  found: readonly { readonly group: string; readonly rewards: Readonly<Record<string, unknown>> }[],
): Pick<TermSpread, "groups" | "varying"> {
  const values = new Map<string, string[]>();
  for (const { group, rewards } of found) {
    const value = rewards[term];
    if (value === undefined || value === null) continue;
    values.set(group, [...(values.get(group) ?? []), JSON.stringify(value)]);
  }
  const compared = [...values.values()].filter((each) => each.length > 1);
  return {
    groups: compared.length,
    varying: compared.filter((each) => each.some((value) => value !== each[0])).length,
  };
}

const parse = <Value>(text: string): Value => JSON.parse(text);
