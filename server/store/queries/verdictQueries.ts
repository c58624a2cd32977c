/** Whether runs learn. A run's timeline goes on with its steps; of a run that has ended the verdict is kept. */
import type { JsonObject } from "../../../shared/lib/json.ts";
import type { EvaluationRow, ParamsOf, ResultOf, runsVerdict } from "../../../shared/protocol/protocol.ts";
import { stepClocks } from "../../../shared/metrics/timeMetrics.ts";
import { isWatched, stepsMade, stepsPlanned, type RunOrigin } from "../../../shared/run/origin.ts";
import { withDismissal } from "../../../shared/run/dismissal.ts";
import { isLive, isSettled } from "../../../shared/protocol/runStatus.ts";
import type { RewardFailure, RunWarning } from "../../../shared/run/outcome.ts";
import type { Verdict, VerdictBrief } from "../../../shared/run/verdict.ts";
import type { GroupTally } from "../../analysis/evidence/record.ts";
import { endedVerdict } from "../../analysis/verdict/ended.ts";
import { isRead, type VerdictRecord } from "../../analysis/verdict/record.ts";
import { stalledVerdict } from "../../analysis/verdict/stalled.ts";
import { Timeline } from "../../analysis/verdict/timeline.ts";
import { briefOf, verdictOf } from "../../analysis/verdict/verdict.ts";
import { runFolder } from "../files.ts";
import { isFull } from "../drivers/fullDisk.ts";
import { row, rows, type Statements } from "../drivers/statements.ts";
import type { RunState } from "../ingest/runState.ts";
import { isHeldOut } from "../imported/heldOut.ts";
import { groupTallies } from "./groupTallies.ts";
import type { MetricQueries } from "./metricQueries.ts";
import type { OutcomeQueries } from "./outcomeQueries.ts";
import type { RecordQueries } from "./recordQueries.ts";
import { effective, type RunQueries } from "./runQueries.ts";

/** Grows when a rule changes: what was kept by an earlier one is found again. */
const rules = 7;
/** Steps whose metrics are read at once. */
const stretch = 16_384;
/** Timelines of runs that are held, so that a live run's next step costs no more than a step. */
const mostHeld = 8;
/** Steps whose groups say which arms are solved. */
const lately = 20;
/** Steps whose times tell how long one takes. */
const paced = 20;
/** As many as a verdict has room for. */
const mostFailures = 20;

interface Held {
  readonly attempt: number;
  readonly timeline: Timeline;
  /** Steps up to this one have been read. */
  to: number;
  evaluations: readonly EvaluationRow[];
}

export class VerdictQueries {
  private readonly held = new Map<string, Held>();

  /** @param store the `.gradus` folder */
  constructor(
    private readonly statements: Statements,
    private readonly store: string,
    private readonly runs: RunQueries,
    private readonly metrics: MetricQueries,
    private readonly records: RecordQueries,
    private readonly outcomes: OutcomeQueries,
  ) {}

  /** What rows and lists say; undefined before the first training step. */
  brief(run: RunState, warnings: readonly RunWarning[]): VerdictBrief | undefined {
    const brief = this.stalled(run) ?? this.found(run, warnings);
    return brief === null ? undefined : withDismissal(runFolder(this.store, run.id), brief);
  }

  /** null: it makes steps, or is not meant to. */
  private stalled(run: RunState, now = Date.now()): VerdictBrief | null {
    const { id, step } = run;
    if (this.runs.statusOf(run) !== "running" || step < 1 || mayBeComplete(run)) return null;
    const times = rows<{ time: number }>(
      this.statements
        .of(
          `SELECT r.time FROM clock r ${effective} WHERE r.run = ? ORDER BY r.attempt DESC, r.step DESC LIMIT ${paced}`,
        )
        .all(id),
    ).map(({ time }) => time);
    const heard = row<{ time: number }>(
      this.statements
        .of("SELECT time FROM event WHERE run = ? ORDER BY attempt DESC, step DESC, ordinal DESC LIMIT 1")
        .get(id),
    );
    const clocks = run.origin === null ? [] : this.clocks(run);
    return stalledVerdict({ step, times, clocks, heard: heard?.time ?? 0 }, now);
  }

  /** What another trainer says that its last steps took, in milliseconds. */
  private clocks({ id, step }: RunState): readonly number[] {
    const names = this.metrics.names({ run: id }).names.filter((name) => stepClocks.includes(name));
    const [found] = this.metrics.between(id, names.slice(0, 1), step - paced, step + 1);
    return [...(found?.values ?? [])].map((seconds) => seconds * 1000);
  }

  isStalled(run: string): boolean {
    return this.stalled(this.runs.existing(run)) !== null;
  }

  private found(run: RunState, warnings: readonly RunWarning[]): VerdictBrief | null {
    const at = [rules, run.attempt, run.status, run.step, run.ended_at].join(" ");
    const settled = isSettled(run.status);
    const kept = settled ? this.kept(run.id, at) : undefined;
    if (kept !== undefined) return kept;
    const until = readable(run);
    const steps =
      run.step < 0 ? null : verdictOf(this.record(run, until, settled), this.timeline(run, until));
    const ended = settled ? endedVerdict(steps, { ...run, warnings }) : null;
    const brief = ended ?? (steps === null ? null : briefOf(steps));
    if (settled) {
      this.held.delete(run.id);
      this.keep(run.id, at, brief);
    }
    return brief;
  }

  /** On a full disk it is not kept: the question is answered all the same, and the next one finds it anew. */
  private keep(run: string, at: string, brief: VerdictBrief | null): void {
    try {
      this.statements.run("INSERT OR REPLACE INTO verdict VALUES (?, ?, ?)", run, at, JSON.stringify(brief));
    } catch (error) {
      if (!isFull(error)) throw error;
    }
  }

  /** null: not kept; the value inside may be null, too. */
  private kept(run: string, at: string): VerdictBrief | null | undefined {
    const found = row<{ at: string; brief: string }>(
      this.statements.of("SELECT at, brief FROM verdict WHERE run = ?").get(run),
    );
    return found === undefined || found.at !== at ? undefined : parse<VerdictBrief | null>(found.brief);
  }

  verdict({ run: id, to }: ParamsOf<typeof runsVerdict>): ResultOf<typeof runsVerdict> {
    const run = this.runs.existing(id);
    // Of a log that is not read to its end nothing is known yet: what it came to is about to be.
    if (to === undefined && this.runs.statusOf(run) === "reading") return { verdict: null };
    const until = Math.min(to ?? run.step, readable(run));
    const timeline = to === undefined ? this.timeline(run, until) : this.filled(run, this.fresh(run), until);
    const whole = to === undefined && isSettled(run.status);
    const verdict = verdictOf(this.record(run, until, whole), timeline);
    const ended = whole ? endedVerdict(verdict, { ...run, warnings: this.outcomes.warnings(run) }) : null;
    const over = ended ?? (to === undefined ? this.stalled(run) : null);
    const told = over === null ? verdict : { ...(verdict ?? empty(run)), ...over };
    return { verdict: told === null ? null : withDismissal(runFolder(this.store, id), told) };
  }

  private fresh(run: RunState): Held {
    const { config, steps, imported } = this.head(run);
    return {
      attempt: run.attempt,
      timeline: new Timeline({ config, steps, imported }),
      to: -1,
      evaluations: [],
    };
  }

  private timeline(run: RunState, to: number): Timeline {
    const known = this.held.get(run.id);
    const held = known?.attempt === run.attempt && known.to <= to ? known : this.fresh(run);
    this.held.delete(run.id);
    this.held.set(run.id, held);
    for (const id of this.held.keys()) if (this.held.size > mostHeld) this.held.delete(id);
    return this.filled(run, held, to);
  }

  private filled(run: RunState, held: Held, to: number): Timeline {
    if (held.to >= to) return held.timeline;
    const names = this.metrics.names({ run: run.id }).names.filter(isRead);
    const evaluations = this.evaluated(run.id, held);
    const stages = this.runs.stages(run.id);
    while (held.to < to) {
      const end = Math.min(held.to + stretch, to);
      const points = this.metrics.between(run.id, names, held.to, end + 1);
      const series = Object.fromEntries(names.map((name, i) => [name, points[i]!]));
      held.timeline.extend({ series, evaluations, stages });
      held.to = end;
    }
    return held.timeline;
  }

  private head({ config, steps, origin }: RunState): Pick<VerdictRecord, "config" | "steps" | "imported"> {
    return { config: parse<JsonObject>(config), steps, imported: origin !== null };
  }

  /** What words are made of: the series have been read by the timeline, and most verdicts ask for neither groups nor failures. */
  private record(run: RunState, to: number, ended: boolean): VerdictRecord {
    const groups = (): readonly GroupTally[] => groupTallies(this.statements, run.id, to - lately, to);
    const heldOut = (): readonly string[] =>
      run.origin === null ? [] : this.metrics.names({ run: run.id }).names.filter(isHeldOut);
    const failures = (): readonly RewardFailure[] => this.outcomes.failures(run.id).slice(0, mostFailures);
    return {
      ...this.head(run),
      step: to,
      ended,
      stages: [],
      series: {},
      evaluations: this.records.evaluations({ run: run.id }).evaluations,
      get heldOut() {
        return heldOut();
      },
      get groups() {
        return groups();
      },
      get failures() {
        return failures();
      },
    };
  }

  /** With their tasks, which are much to read: again only where there are more than before. */
  private evaluated(run: string, held: Held): readonly EvaluationRow[] {
    const { evaluations } = this.records.evaluations({ run });
    if (evaluations.length !== held.evaluations.length)
      held.evaluations = this.records.evaluations({ run, tasks: true }).evaluations;
    return held.evaluations;
  }
}

/** A folder of another trainer that has stopped growing, where nothing says that steps are still to come. */
function mayBeComplete({ step, steps, origin: text, status }: RunState): boolean {
  if (text === null) return false;
  const origin = parse<RunOrigin>(text);
  const planned = stepsPlanned({ steps, origin });
  return isWatched({ status, origin }) && (planned === null || stepsMade({ step, steps, origin }) >= planned);
}

/** An evaluation of a live run's last step may not have been recorded yet. */
const readable = ({ status, step }: RunState): number => (isLive(status) ? step - 1 : step);

const empty = ({ step }: RunState): Verdict => ({
  state: "too early",
  label: "",
  since: null,
  step,
  headline: "",
  details: [],
  against: null,
  cause: null,
  rollouts: [],
  fixes: [],
  reliability: null,
  timeline: [],
});

const parse = <Value>(text: string): Value => JSON.parse(text);
