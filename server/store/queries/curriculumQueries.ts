/** What the curriculum drew and what came of it: a run's groups, counted in SQLite by arm, family or task and by steps. */
import type {
  CurriculumLane,
  CurriculumOverview,
  GroupTally,
  Lane,
  ParamsOf,
  TaskOrigin,
  curriculumQuery,
} from "../../../shared/protocol/protocol.ts";
import { effective, type RunQueries } from "./runQueries.ts";
import { row, rows, type Statements } from "../drivers/statements.ts";
import { laneColumns } from "./steps.ts";
import type { TaskQueries } from "./taskQueries.ts";
import { LostSteps, type UnreadRollouts } from "./unreadRollouts.ts";

/** Milliseconds that one question may spend on rollouts that are not read yet: the next one reads on. */
const patience = 30;

const dead = "r.size > 0 AND r.successes <= 0";
const exhausted = "r.size > 0 AND r.successes >= r.size";
const tally = `count(*) AS groups, sum(r.admitted) AS admitted,
  sum(${dead}) AS dead, sum(${exhausted}) AS exhausted,
  sum(r.successes) AS successes, sum(r.size) AS rollouts, coalesce(sum(r.tokens), 0) AS tokens,
  coalesce(sum(CASE WHEN ${dead} THEN r.tokens END), 0) AS deadTokens,
  coalesce(sum(CASE WHEN ${exhausted} THEN r.tokens END), 0) AS exhaustedTokens,
  sum(r.tokens IS NULL AND r.size > 0) AS unmeasured`;

interface Cell {
  readonly name: string;
  readonly column: number;
  readonly drawn: number;
  readonly admitted: number;
  readonly successes: number;
  readonly rollouts: number;
}
/** A lane without its cells; `only`: the task, where there is just one. */
interface Tallied extends GroupTally {
  readonly name: string;
  readonly tasks: number;
  readonly only: string | null;
}

export class CurriculumQueries {
  constructor(
    private readonly statements: Statements,
    private readonly runs: RunQueries,
    private readonly tasks: TaskQueries,
    private readonly unread: UnreadRollouts,
  ) {}

  overview({
    run: id,
    by,
    arm,
    family,
    from,
    to,
    columns,
    lanes,
  }: ParamsOf<typeof curriculumQuery>): CurriculumOverview {
    const run = this.runs.existing(id);
    this.readOn(id);
    const last = Math.max(from, Math.min(to ?? run.step, run.step));
    const width = Math.max(1, Math.ceil((last - from + 1) / columns));
    const within = new Within(this.statements, { run: id, from, last, arm, family });
    const lane = by === "auto" ? (this.hasFamilies(id) ? "family" : "arm") : by;
    const found = within.lanes(lane, lanes);
    const made = this.tasks.origins(
      id,
      found.flatMap(({ only }) => only ?? []),
    );
    // Groups of other trainers' runs are known by their rollouts alone.
    const unread = run.origin === null ? 0 : this.unread.left(id);
    return {
      ...(unread > 0 && { unread }),
      by: lane,
      arm: arm ?? null,
      family: family ?? null,
      from,
      to: last,
      width,
      lanes: withCells(found, within.cells(lane, found, width), made),
      more: within.distinct(lane) - found.length,
      columns: within.columns(width),
      reasons: within.reasons(),
    };
  }

  private hasFamilies(run: string): boolean {
    return (
      this.statements.of("SELECT 1 FROM grp WHERE run = ? AND family IS NOT NULL LIMIT 1").get(run) !==
      undefined
    );
  }

  private readOn(run: string): void {
    const until = performance.now() + patience;
    const lost = new LostSteps();
    while (performance.now() < until && this.unread.next(run, {}, lost));
  }
}

/** The groups that are counted. */
class Within {
  private readonly from: string;
  private readonly first: number;
  private readonly values: readonly (string | number)[];

  constructor(
    private readonly statements: Statements,
    {
      run,
      from,
      last,
      arm,
      family,
    }: {
      readonly run: string;
      readonly from: number;
      readonly last: number;
      readonly arm: string | undefined;
      readonly family: string | undefined;
    },
  ) {
    const only = { arm, family };
    const chosen = (["arm", "family"] as const).flatMap((lane) => {
      const name = only[lane];
      return name === undefined ? [] : [{ sql: ` AND ${laneColumns[lane]} = ?`, name }];
    });
    this.first = from;
    this.values = [run, from, last, ...chosen.map(({ name }) => name)];
    this.from = `FROM grp r ${effective} WHERE r.run = ? AND r.step BETWEEN ? AND ?${chosen.map(({ sql }) => sql).join("")}`;
  }

  lanes(by: Lane, most: number): readonly Tallied[] {
    return rows(
      this.statements
        .once(
          `SELECT ${laneColumns[by]} AS name, count(DISTINCT r.task) AS tasks, CASE WHEN min(r.task) = max(r.task) THEN min(r.task) END AS only,
            ${tally} ${this.from} GROUP BY 1 ORDER BY groups DESC, name LIMIT ${most}`,
        )
        .all(...this.values),
    );
  }

  distinct(by: Lane): number {
    const found = this.statements
      .once(`SELECT count(DISTINCT ${laneColumns[by]}) AS n ${this.from}`)
      .get(...this.values);
    return row<{ n: number }>(found)?.n ?? 0;
  }

  cells(by: Lane, lanes: readonly { readonly name: string }[], width: number): readonly Cell[] {
    const names = JSON.stringify(lanes.map(({ name }) => name));
    return rows(
      this.statements
        .once(
          `SELECT ${laneColumns[by]} AS name, (r.step - ${this.first}) / ${width} AS "column", count(*) AS drawn, sum(r.admitted) AS admitted,
            sum(r.successes) AS successes, sum(r.size) AS rollouts ${this.from}
            AND ${laneColumns[by]} IN (SELECT value FROM json_each(?))
            GROUP BY 1, "column" ORDER BY "column"`,
        )
        .all(...this.values, names),
    );
  }

  columns(width: number): CurriculumOverview["columns"] {
    return rows(
      this.statements
        .once(
          `SELECT (r.step - ${this.first}) / ${width} AS "column", ${tally} ${this.from} GROUP BY "column" ORDER BY "column"`,
        )
        .all(...this.values),
    );
  }

  reasons(): CurriculumOverview["reasons"] {
    return rows(
      this.statements
        .once(
          `SELECT coalesce(r.reason, 'not admitted') AS reason, count(*) AS groups ${this.from} AND r.admitted = 0
            GROUP BY 1 ORDER BY groups DESC, reason LIMIT 20`,
        )
        .all(...this.values),
    );
  }
}

function withCells(
  lanes: readonly Tallied[],
  cells: readonly Cell[],
  made: ReadonlyMap<string, TaskOrigin>,
): readonly CurriculumLane[] {
  const byName = new Map<string, Cell[]>(lanes.map(({ name }) => [name, []]));
  for (const cell of cells) byName.get(cell.name)?.push(cell);
  return lanes.map(({ only, ...lane }) => {
    const own = byName.get(lane.name) ?? [];
    const origin = only === null ? undefined : made.get(only);
    return {
      ...lane,
      ...(origin === undefined ? {} : { made: origin }),
      columns: own.map(({ column }) => column),
      drawn: own.map(({ drawn }) => drawn),
      admittedIn: own.map(({ admitted }) => admitted),
      rates: own.map(({ successes, rollouts }) => (rollouts > 0 ? successes / rollouts : null)),
    };
  });
}
