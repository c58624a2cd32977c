/**
 * Answers to every question of the protocol. A run's rows are those of all its attempts, each up to where a later
 * attempt began again.
 */
import { CurriculumQueries } from "./curriculumQueries.ts";
import type { Database } from "../drivers/database.ts";
import { EvidenceQueries } from "./evidenceQueries.ts";
import { FeedQueries } from "./feedQueries.ts";
import { JudgeQueries } from "./judgeQueries.ts";
import { MetricQueries } from "./metricQueries.ts";
import { OutcomeQueries } from "./outcomeQueries.ts";
import { RecordQueries } from "./recordQueries.ts";
import { RunList } from "./runList.ts";
import { RunQueries } from "./runQueries.ts";
import { TaskQueries } from "./taskQueries.ts";
import { Statements } from "../drivers/statements.ts";
import { VerdictQueries } from "./verdictQueries.ts";
import type { UnreadRollouts } from "./unreadRollouts.ts";

export type Queries = ReturnType<typeof queriesOf>;

/** @param store the `.gradus` folder */
export function queriesOf(database: Database, store: string, unread: UnreadRollouts) {
  const statements = new Statements(database);
  const runs: RunQueries = new RunQueries(statements, store, {
    warnings: (run) => outcomes.warnings(run),
    verdict: (run, warnings) => verdicts.brief(run, warnings),
  });
  const metrics = new MetricQueries(statements, runs);
  const records = new RecordQueries(statements, runs, store, unread);
  const outcomes: OutcomeQueries = new OutcomeQueries(statements, metrics, records);
  const verdicts: VerdictQueries = new VerdictQueries(statements, store, runs, metrics, records, outcomes);
  const tasks = new TaskQueries(statements, runs);
  const curriculum = new CurriculumQueries(statements, runs, tasks, unread);
  const evidence = new EvidenceQueries(statements, runs, metrics, records, unread, outcomes, verdicts);
  const judges = new JudgeQueries(statements, runs, records, unread);
  const list = new RunList(statements, runs, metrics);
  const feed = new FeedQueries(statements, runs);
  return {
    list: list.list.bind(list),
    show: runs.show.bind(runs),
    summary: runs.summary.bind(runs),
    ownRuns: runs.ownRuns.bind(runs),
    existing: (run: string): string => runs.existing(run).id,
    verdict: verdicts.verdict.bind(verdicts),
    isStalled: verdicts.isStalled.bind(verdicts),
    damage: runs.damage.bind(runs),
    byStartKey: runs.byStartKey.bind(runs),
    lens: runs.lens.bind(runs),
    names: metrics.names.bind(metrics),
    series: metrics.series.bind(metrics),
    seriesInSlices: metrics.seriesInSlices.bind(metrics),
    groups: records.groups.bind(records),
    curriculum: curriculum.overview.bind(curriculum),
    tasks: tasks.tasks.bind(tasks),
    rollouts: records.rollouts.bind(records),
    rolloutRecord: records.rolloutRecord.bind(records),
    rolloutColumns: records.rolloutColumns.bind(records),
    judgeDraw: judges.draw.bind(judges),
    events: records.events.bind(records),
    rewardErrors: outcomes.rewardErrors.bind(outcomes),
    evaluations: records.evaluations.bind(records),
    matrix: records.matrix.bind(records),
    fileRuns: evidence.fileRuns.bind(evidence),
    fileStamps: evidence.fileStamps.bind(evidence),
    runToRescore: evidence.runToRescore.bind(evidence),
    rolloutSteps: evidence.rolloutSteps.bind(evidence),
    rolloutPlaces: evidence.rolloutPlaces.bind(evidence),
    head: feed.head.bind(feed),
    changes: feed.changes.bind(feed),
  };
}
