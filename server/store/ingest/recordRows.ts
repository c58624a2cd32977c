/** Records of a step that become rows as they are. Inside a transaction only. */
import type {
  CriteriaRecord,
  EvaluationRecord,
  EventRecord,
  GroupRecord,
  MetricsRecord,
  PlacedRecord,
  TaskRecord,
} from "../../../shared/log/records.ts";
import type { RolloutHead } from "../../../shared/log/codec.ts";
import type { RecordPlace } from "../../../shared/log/recordAt.ts";
import { fromWire, type MaybeNumber } from "../../../shared/rollouts/rollouts.ts";
import type { Changes } from "./changes.ts";
import type { Ids } from "./ids.ts";
import { PointWriter } from "./points.ts";
import type { RunState } from "./runState.ts";
import { rows, type Statements } from "../drivers/statements.ts";

const headlineNames = ["reward/total", "eval/pass@1"];

/** SQLite keeps infinities; NaN becomes NULL. */
const real = (value: MaybeNumber | undefined): number | null => {
  if (value === undefined || value === null) return null;
  const number = fromWire(value);
  return Number.isNaN(number) ? null : number;
};
const flag = (value: boolean | undefined): number | null => (value === undefined ? null : Number(value));

export class RecordRows {
  private readonly points: PointWriter;

  constructor(
    private readonly statements: Statements,
    private readonly ids: Ids,
    private readonly changes: Changes,
  ) {
    this.points = new PointWriter(statements);
  }

  forget(): void {
    this.points.forget();
  }

  metrics(run: RunState, attempt: number, record: MetricsRecord): void {
    const headline: Record<string, number> = JSON.parse(run.headline);
    for (const [name, wire] of Object.entries(record.values)) {
      const value = fromWire(wire);
      this.points.add(this.ids.series(run.id, name), attempt, record.step, value);
      if (headlineNames.includes(name) && Number.isFinite(value)) headline[name] = value;
    }
    run.headline = JSON.stringify(headline);
    this.statements.run(
      "INSERT OR REPLACE INTO clock VALUES (?, ?, ?, ?)",
      run.id,
      attempt,
      record.step,
      record.time,
    );
  }

  group(run: string, attempt: number, record: GroupRecord): void {
    const { step, group, task, arm, family, admitted, reason, successes, size, signal } = record;
    this.statements.run(
      "INSERT INTO grp VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, ?)",
      run,
      attempt,
      step,
      this.ids.ordinal("grp", run, attempt, step),
      group,
      task,
      arm,
      Number(admitted),
      reason,
      successes,
      size,
      real(signal),
      family ?? null,
    );
  }

  task(run: string, attempt: number, record: TaskRecord): void {
    const { step, source, id, prompt, answer, parents, generation, transform, author, answered, tried } =
      record;
    this.statements.run(
      "INSERT INTO task VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      run,
      attempt,
      step,
      this.ids.ordinal("task", run, attempt, step),
      source,
      id,
      prompt,
      answer,
      JSON.stringify(parents),
      generation,
      transform,
      author,
      answered,
      tried?.successes ?? null,
      tried?.rollouts ?? null,
    );
  }

  placed(run: string, attempt: number, { step, file, count, use }: PlacedRecord): void {
    this.statements.run(
      "INSERT INTO placed VALUES (?, ?, ?, ?, ?, ?)",
      run,
      attempt,
      step,
      this.ids.ordinal("placed", run, attempt, step),
      file,
      use === undefined ? count : 0,
    );
  }

  criteria(run: string, { id, criteria }: CriteriaRecord): void {
    this.statements.run("INSERT OR IGNORE INTO criteria VALUES (?, ?, ?)", run, id, JSON.stringify(criteria));
  }

  /** Once the rollouts of a step are rows: what its groups have cost. Evaluations are no part of them. */
  groupTokens(run: string, attempt: number, step: number): void {
    this.statements.run(
      `UPDATE grp SET tokens = spent.tokens FROM (
        SELECT name, sum(tokens) AS tokens FROM rollout WHERE run = ? AND attempt = ? AND step = ? AND use IS NOT 'evaluate' GROUP BY name
      ) AS spent WHERE grp.run = ? AND grp.attempt = ? AND grp.step = ? AND grp.name = spent.name`,
      run,
      attempt,
      step,
      run,
      attempt,
      step,
    );
  }

  /** By group of a step: the family of its arm, where that is not the arm itself. */
  families(run: string, attempt: number, step: number): ReadonlyMap<string, string> {
    const found = rows<{ name: string; family: string }>(
      this.statements
        .of("SELECT name, family FROM grp WHERE run = ? AND attempt = ? AND step = ? AND family IS NOT NULL")
        .all(run, attempt, step),
    );
    return new Map(found.map(({ name, family }) => [name, family]));
  }

  rollout(run: string, place: RecordPlace, { step, row, lengths }: RolloutHead, family?: string): void {
    const { rewards, errors, judged, components } = row;
    this.statements.run(
      "INSERT INTO rollout VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      run,
      place.attempt,
      step,
      this.ids.ordinal("rollout", run, place.attempt, step),
      place.segment,
      place.offset,
      row.group,
      row.index,
      row.task?.id ?? null,
      row.task?.env ?? null,
      row.task?.arm ?? null,
      row.prompt === undefined ? null : this.ids.prompt(run, row.prompt),
      row.response ?? null,
      row.finish ?? null,
      row.source ?? null,
      row.use ?? null,
      real(row.reward),
      real(row.advantage),
      flag(row.admitted),
      lengths.tokens ?? null,
      JSON.stringify({ rewards, errors, judged, components }),
      family ?? null,
      place.line ?? null,
    );
  }

  event(run: string, attempt: number, record: EventRecord): void {
    const { step, time, severity, name, message, action, data } = record;
    this.statements.run(
      "INSERT INTO event VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      run,
      attempt,
      step,
      this.ids.ordinal("event", run, attempt, step),
      time,
      severity,
      name,
      message,
      action ?? null,
      JSON.stringify(data ?? null),
    );
    this.changes.add(run, "event", step);
  }

  evaluation(run: RunState, attempt: number, record: EvaluationRecord): void {
    const metrics = JSON.stringify(record.metrics);
    this.statements.run(
      "INSERT INTO evaluation VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
      run.id,
      attempt,
      record.step,
      this.ids.ordinal("evaluation", run.id, attempt, record.step),
      record.time,
      record.role,
      metrics,
      record.stage ?? null,
      record.results === undefined ? null : JSON.stringify(record.results),
    );
    if (record.role === "first") run.first = metrics;
    // Another trainer does not say which evaluation is its last: so far it is this one.
    if (record.role === "last" || (record.role === "periodic" && run.origin !== null)) run.last = metrics;
    const pass = record.metrics["eval/pass@1"];
    if (pass !== undefined)
      run.headline = JSON.stringify({ ...JSON.parse(run.headline), "eval/pass@1": pass });
    for (const [name, value] of Object.entries(record.metrics)) {
      this.points.add(this.ids.series(run.id, name), attempt, record.step, real(value) ?? Number.NaN);
    }
    this.changes.add(run.id, "evaluation", record.step, record.metrics);
  }
}
