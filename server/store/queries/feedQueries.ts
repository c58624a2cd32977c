/** The feed of changes that clients follow by cursor. */
import type { Change, ParamsOf, ResultOf, subscribe } from "../../../shared/protocol/protocol.ts";
import type { RunQueries } from "./runQueries.ts";
import { isRunIdSql, row, rows, type Statements } from "../drivers/statements.ts";

/** Changes sent in one notification. */
const changesAtOnce = 1_000;

export class FeedQueries {
  constructor(
    private readonly statements: Statements,
    private readonly runs: RunQueries,
  ) {}

  /** The last cursor given out. */
  head(): number {
    return (
      row<{ seq: number }>(this.statements.of("SELECT seq FROM sqlite_sequence WHERE name = 'change'").get())
        ?.seq ?? 0
    );
  }

  /** Changes after a cursor, oldest first, at most a batch; `restart` where some of them are no longer kept. */
  changes({ since, runs }: ParamsOf<typeof subscribe>): ResultOf<typeof subscribe> {
    const head = this.head();
    if (since === undefined || since === head) return { cursor: head, restart: false, changes: [] };
    const oldest =
      row<{ cursor: number | null }>(this.statements.of("SELECT min(cursor) AS cursor FROM change").get())
        ?.cursor ?? head + 1;
    if (since > head || since < oldest - 1) return { cursor: head, restart: true, changes: [] };
    const found = rows<ChangeRow>(
      this.statements
        .of(`SELECT * FROM change WHERE cursor > ? AND ${isRunIdSql("run")} ORDER BY cursor LIMIT ?`)
        .all(since, changesAtOnce),
    );
    const wanted = runs === undefined ? found : found.filter(({ run }) => runs.includes(run));
    const lastOf = new Map(wanted.map(({ run, cursor }) => [run, cursor]));
    const changes = wanted.map((change): Change => ({
      cursor: change.cursor,
      run: change.run,
      kind: change.kind,
      step: change.step,
      summary: lastOf.get(change.run) === change.cursor ? this.runs.summary(change.run) : null,
      ...(change.metrics === null ? {} : { metrics: parse<Record<string, number | null>>(change.metrics) }),
    }));
    return { cursor: found.at(-1)?.cursor ?? head, restart: false, changes };
  }
}

interface ChangeRow {
  readonly cursor: number;
  readonly run: string;
  readonly kind: Change["kind"];
  readonly step: number;
  readonly metrics: string | null;
}

const parse = <Value>(text: string): Value => JSON.parse(text);
