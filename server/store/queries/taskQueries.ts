/** Tasks that runs have made of others: where they come from, and what came of them. */
import type {
  MadeTask,
  ParamsOf,
  ResultOf,
  TaskOrigin,
  tasksQuery,
} from "../../../shared/protocol/protocol.ts";
import { effective, type RunQueries } from "./runQueries.ts";
import { rows, textOf, wholeText, type Statements, type WholeText } from "../drivers/statements.ts";

interface OriginRow extends Omit<TaskOrigin, "parents" | "tried"> {
  readonly id: string;
  readonly parents: string;
  readonly successes: number | null;
  readonly rollouts: number | null;
}
interface TaskRow extends OriginRow {
  readonly prompt: Buffer;
  readonly answer: WholeText;
  readonly groups: number;
  readonly seenSuccesses: number;
  readonly seenRollouts: number;
}

const origin =
  "r.id, r.source, r.parents, r.generation, r.step, r.transform, r.author, r.answered, r.successes, r.rollouts";
const order = "ORDER BY r.attempt DESC, r.step DESC, r.ordinal DESC";

export class TaskQueries {
  constructor(
    private readonly statements: Statements,
    private readonly runs: RunQueries,
  ) {}

  tasks({ run, source, limit }: ParamsOf<typeof tasksQuery>): ResultOf<typeof tasksQuery> {
    this.runs.existing(run);
    const found = rows<TaskRow>(
      this.statements
        .of(
          `WITH seen AS (SELECT r.task AS id, count(*) AS groups, sum(r.successes) AS successes, sum(r.size) AS rollouts
              FROM grp r ${effective} WHERE r.run = @run AND r.task IN (SELECT id FROM task WHERE run = @run) GROUP BY r.task)
            SELECT ${origin}, ${wholeText("r.prompt", "prompt")}, ${wholeText("r.answer", "answer")},
              coalesce(seen.groups, 0) AS groups, coalesce(seen.successes, 0) AS seenSuccesses, coalesce(seen.rollouts, 0) AS seenRollouts
            FROM task r ${effective} LEFT JOIN seen ON seen.id = r.id
            WHERE r.run = @run AND r.source = coalesce(@source, r.source) ${order} LIMIT @limit`,
        )
        .all({ run, source: source ?? null, limit }),
    );
    return { tasks: found.toReversed().map(taskOf) };
  }

  /** Of those of the ids that the run has made. */
  origins(run: string, ids: readonly string[]): ReadonlyMap<string, TaskOrigin> {
    const found = rows<OriginRow>(
      this.statements
        .of(
          `SELECT ${origin} FROM task r ${effective} WHERE r.run = ? AND r.id IN (SELECT value FROM json_each(?)) ${order}`,
        )
        .all(run, JSON.stringify(ids)),
    );
    return new Map(found.toReversed().map((row) => [row.id, originOf(row)]));
  }
}

function originOf(row: OriginRow): TaskOrigin {
  const { source, generation, step, transform, author, answered, successes, rollouts } = row;
  const parents: readonly string[] = JSON.parse(row.parents);
  const tried = successes === null || rollouts === null ? null : { successes, rollouts };
  return { source, parents, generation, step, transform, author, answered, tried };
}

const taskOf = (row: TaskRow): MadeTask => ({
  id: row.id,
  prompt: textOf(row.prompt),
  answer: textOf(row.answer),
  ...originOf(row),
  seen: { groups: row.groups, successes: row.seenSuccesses, rollouts: row.seenRollouts },
});
