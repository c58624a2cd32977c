/** Questions about what a run recorded step by step: groups, rollouts, events, evaluations. */
import { UserError } from "../../../shared/lib/errors.ts";
import type { Json } from "../../../shared/lib/json.ts";
import type {
  EvaluationRow,
  EventRow,
  GroupRow,
  ParamsOf,
  ResultOf,
  evaluationsQuery,
  matrixQuery,
  eventsQuery,
  groupsQuery,
  rolloutsQuery,
} from "../../../shared/protocol/protocol.ts";
import type { TaskResults } from "../../../shared/run/taskResults.ts";
import type { Criterion } from "../../../shared/rollouts/criteria.ts";
import { RecordReader, type RecordPlace } from "../../../shared/log/recordAt.ts";
import type { RolloutRecordLog } from "../../../shared/log/records.ts";
import { toWire, type RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import { readers } from "../imported/readers.ts";
import { rowOf } from "./rolloutRow.ts";
import { runFolder } from "../files.ts";
import { effective, type RunQueries } from "./runQueries.ts";
import { row, rows, textOf, wholeText, type Statements, type WholeText } from "../drivers/statements.ts";
import { rolloutOrder, type RolloutPosition } from "./rolloutOrder.ts";
import { boundsOf, isWhole, laneColumns } from "./steps.ts";
import { LostSteps, type UnreadRollouts } from "./unreadRollouts.ts";
import { compileWhere } from "./where.ts";

export class RecordQueries {
  constructor(
    private readonly statements: Statements,
    private readonly runs: RunQueries,
    private readonly store: string,
    private readonly unread: UnreadRollouts,
  ) {}

  groups({ run, by, names, limit, ...part }: ParamsOf<typeof groupsQuery>): ResultOf<typeof groupsQuery> {
    this.runs.existing(run);
    const among = names.length === 0 ? "" : ` AND ${laneColumns[by]} IN (SELECT value FROM json_each(?))`;
    const found = rows<GroupRow & { admitted: number | boolean }>(
      this.statements
        .of(
          `SELECT r.step, r.name AS "group", r.task, r.arm, r.admitted, r.reason, r.successes, r.size FROM grp r ${effective} WHERE r.run = ? AND r.step BETWEEN ? AND ?${among} ORDER BY r.attempt, r.step, r.ordinal LIMIT ?`,
        )
        .all(run, ...boundsOf(part), ...(names.length === 0 ? [] : [JSON.stringify(names)]), limit),
    );
    return { groups: found.map((group) => ({ ...group, admitted: Boolean(group.admitted) })) };
  }

  rollouts({
    run,
    where,
    tokens,
    limit,
    after,
    sort,
    ...part
  }: ParamsOf<typeof rolloutsQuery>): ResultOf<typeof rolloutsQuery> {
    this.runs.existing(run);
    // A question about one step has nothing else to answer.
    const lost = part.step === undefined ? new LostSteps() : undefined;
    while (this.unread.next(run, part, lost));
    const condition = where === undefined || where.trim() === "" ? undefined : compileWhere(where);
    const filter = `r.run = ?${isWhole(part) ? "" : " AND r.step BETWEEN ? AND ?"}${condition === undefined ? "" : ` AND ${condition.sql}`}`;
    const values = [run, ...(isWhole(part) ? [] : boundsOf(part)), ...(condition?.parameters ?? [])];
    const from = `FROM rollout r ${effective} LEFT JOIN prompt p ON p.id = r.prompt WHERE ${filter}`;
    const total =
      row<{ n: number }>(this.statements.once(`SELECT count(*) AS n ${from}`).get(...values))?.n ?? 0;
    const order = rolloutOrder(sort, after);
    const found = rows<RolloutRowOfTable>(
      this.statements
        .once(
          `SELECT r.attempt, r.step, r.ordinal, r.segment, r.offset, r.line, r.advantage ${from}${order.after === "" ? "" : ` AND ${order.after}`} ORDER BY ${order.by} LIMIT ? OFFSET ?`,
        )
        .all(...values, ...order.values, limit + 1, order.skipped),
    );
    const last = found.length > limit ? found[limit - 1] : undefined;
    const rollouts = this.recorded(run, found.slice(0, limit), tokens, lost);
    const unread = lost?.all ?? [];
    return {
      rollouts,
      total,
      ...(unread.length > 0 && { unread }),
      next: last === undefined ? null : order.next(last, limit),
    };
  }

  /** Those of the ids of rows, without tokens. */
  rolloutsOf(run: string, ids: readonly number[]): readonly RolloutRow[] {
    const places = rows<RolloutRowOfTable>(
      this.statements
        .of(
          "SELECT r.attempt, r.step, r.ordinal, r.segment, r.offset, r.line, r.advantage FROM rollout r WHERE r.id IN (SELECT value FROM json_each(?))",
        )
        .all(JSON.stringify(ids)),
    );
    return this.recorded(run, places, false, new LostSteps());
  }

  /** From where the rows say that they lie: the run's log, or another trainer's files. */
  private recorded(
    run: string,
    places: readonly RolloutRowOfTable[],
    tokens: boolean,
    lost: LostSteps | undefined,
  ): readonly RolloutRow[] {
    const log = this.reader(
      run,
      places.some(({ line }) => line !== null),
    );
    const known = new Map<string, readonly Criterion[] | undefined>();
    const criteriaOf = (id: string): readonly Criterion[] | undefined => {
      if (!known.has(id)) known.set(id, this.criteria(run, id));
      return known.get(id);
    };
    try {
      return places.flatMap((place) => {
        const record = readUnlessLost(log, place, lost);
        if (record === undefined) return [];
        const row = rowOf(record, tokens, criteriaOf);
        return [{ ...row, ...estimated(place), run, attempt: place.attempt }];
      });
    } finally {
      log.close();
    }
  }

  /** One rollout as its log has it, with its columns; of those with its number the one that trains. */
  rolloutRecord(
    run: string,
    { step, group, index }: { readonly step: number; readonly group: string; readonly index: number },
  ): RolloutRecordLog {
    this.runs.existing(run);
    while (this.unread.next(run, { step }));
    const place = row<RecordPlace & { readonly line: number | null }>(
      this.statements
        .of(
          `SELECT r.attempt, r.segment, r.offset, r.line FROM rollout r ${effective} WHERE r.run = ? AND r.step = ? AND r.name = ? AND r.idx = ? ORDER BY coalesce(r.use, 'train') <> 'train', r.attempt DESC LIMIT 1`,
        )
        .get(run, step, group, index),
    );
    if (place === undefined)
      throw new UserError(`Step ${step} of this run has no rollout ${group}#${index}.`, {
        code: "rollouts-empty",
        action: `List what it has: gradus rollouts ${run} --step ${step}.`,
      });
    const log = this.reader(run, place.line !== null);
    try {
      return log.rollout(place);
    } finally {
      log.close();
    }
  }

  /** What places and channels of its tokens are computed of: a row may hold as many numbers again. */
  rolloutColumns(
    run: string,
    which: { readonly step: number; readonly group: string; readonly index: number },
  ): Pick<RolloutRow, "response" | "turns"> & Pick<RolloutRecordLog, "columns"> {
    const { row: recorded, columns } = this.rolloutRecord(run, which);
    const { response = "", turns } = recorded;
    return { response, columns, ...(turns && { turns }) };
  }

  private reader(run: string, imported: boolean): Pick<RecordReader, "rollout" | "close"> {
    const folder = runFolder(this.store, run);
    return imported ? new (readers().RolloutReader)(folder) : new RecordReader(folder);
  }

  private criteria(run: string, id: string): readonly Criterion[] | undefined {
    const found = row<{ list: string }>(
      this.statements.of("SELECT list FROM criteria WHERE run = ? AND id = ?").get(run, id),
    );
    return found === undefined ? undefined : parse(found.list);
  }

  /** Of every attempt: recorded events stay. */
  events({ run, limit }: ParamsOf<typeof eventsQuery>): ResultOf<typeof eventsQuery> {
    this.runs.existing(run);
    const found = rows<EventRowOfTable>(
      this.statements
        .of(
          `SELECT attempt, step, time, severity, name, ${wholeText("message", "message")}, ${wholeText("action", "action")}, data FROM event WHERE run = ? ORDER BY attempt DESC, step DESC, ordinal DESC LIMIT ?`,
        )
        .all(run, limit),
    );
    return {
      events: found.toReversed().map(({ attempt, step, time, severity, name, message, action, data }) => ({
        run,
        attempt,
        step,
        time,
        severity,
        name,
        message: textOf(message),
        action: textOf(action),
        data: parse<Json>(data),
      })),
    };
  }

  evaluations({
    run,
    tasks = false,
  }: Partial<ParamsOf<typeof evaluationsQuery>> & { readonly run: string }): ResultOf<
    typeof evaluationsQuery
  > {
    this.runs.existing(run);
    const found = rows<{
      step: number;
      role: EvaluationRow["role"];
      metrics: string;
      results: string | null;
    }>(
      this.statements
        .of(
          `SELECT r.step, r.role, r.metrics, ${tasks ? "r.results" : "NULL AS results"} FROM evaluation r ${effective} WHERE r.run = ? AND r.role <> 'matrix' ORDER BY r.attempt, r.step, r.ordinal`,
        )
        .all(run),
    );
    return {
      evaluations: found.map(({ step, role, metrics, results }) => ({
        step,
        role,
        metrics: parse<Record<string, number>>(metrics),
        ...(results === null ? {} : { results: parse<TaskResults>(results) }),
      })),
    };
  }

  /** What became of every stage's tasks, in the order in which the stages ended. */
  matrix({ run }: ParamsOf<typeof matrixQuery>): ResultOf<typeof matrixQuery> {
    this.runs.existing(run);
    const found = rows<{ step: number; stage: string; metrics: string }>(
      this.statements
        .of(
          `SELECT r.step, r.stage, r.metrics FROM evaluation r ${effective} WHERE r.run = ? AND r.role = 'matrix' ORDER BY r.attempt, r.step, r.ordinal`,
        )
        .all(run),
    );
    return {
      ends: found.map(({ step, stage, metrics }) => ({
        step,
        stage,
        metrics: parse<Record<string, number>>(metrics),
      })),
    };
  }
}

interface EventRowOfTable extends Omit<EventRow, "data" | "message" | "action"> {
  readonly message: Buffer;
  readonly action: WholeText;
  readonly data: string;
}
interface RolloutRowOfTable extends RecordPlace, RolloutPosition {
  readonly attempt: number;
  readonly line: number | null;
  readonly advantage: number | null;
}

/** undefined: its file has changed since its row was made. */
function readUnlessLost(
  log: { rollout: RecordReader["rollout"] },
  place: RolloutRowOfTable,
  lost: LostSteps | undefined,
): ReturnType<RecordReader["rollout"]> | undefined {
  if (lost?.has(place) === true) return undefined;
  try {
    return log.rollout(place);
  } catch (error) {
    if (lost === undefined) throw error;
    lost.add(place, place.step, error);
    return undefined;
  }
}

/** Files of other trainers may lack advantages: a config gave them to the rows. */
const estimated = ({ line, advantage }: RolloutRowOfTable): Pick<RolloutRow, "advantage"> =>
  line === null || advantage === null ? {} : { advantage: toWire(advantage) };

const parse = <Value>(text: string): Value => JSON.parse(text);
