/** Rollouts whose answers hold what somebody looks for, the newest first, a page at a time. */
import { UserError } from "../../../shared/lib/errors.ts";
import type { ParamsOf, ResultOf, RolloutHit, rolloutsSearch } from "../../../shared/protocol/protocol.ts";
import { toWire } from "../../../shared/rollouts/rollouts.ts";
import type { Database } from "../drivers/database.ts";
import { row, rows, Statements, textOf, wholeText, type WholeText } from "../drivers/statements.ts";
import { effective } from "../queries/runQueries.ts";
import { compileWhere } from "../queries/where.ts";
import { markWords, matchAll, snippetOf } from "./snippet.ts";
import { wantedOf, type Wanted } from "./searchText.ts";
import type { TextIndex } from "./textIndex.ts";

/** Rows are counted as far as this. */
const mostCounted = 10_000;
/** Texts that are looked through in one go, without an index. */
const scanRows = 512;

type Found = Pick<ResultOf<typeof rolloutsSearch>, "hits" | "total" | "atLeast" | "next" | "how">;
type Params = Pick<ParamsOf<typeof rolloutsSearch>, "run" | "text" | "where" | "limit" | "after">;

interface HitRow extends Omit<RolloutHit, "snippet" | "reward" | "task" | "arm" | "group"> {
  readonly id: number;
  readonly reward: number | null;
  readonly group: Buffer;
  readonly task: WholeText;
  readonly arm: WholeText;
  readonly response: WholeText;
}

const columns = `r.id, r.run, r.attempt, r.step, ${wholeText("r.name", '"group"')}, r.idx AS "index", ${wholeText("r.task", "task")}, ${wholeText("r.arm", "arm")}, r.reward, ${wholeText("r.response", "response")}`;
const joined = `${effective} LEFT JOIN prompt p ON p.id = r.prompt`;

export class SearchQueries {
  private readonly statements: Statements;

  constructor(
    database: Database,
    private readonly index: TextIndex,
  ) {
    this.statements = new Statements(database);
  }

  /** A slice after each yield: other questions come in between. @throws UserError where the question cannot be read */
  *search(params: Params): Generator<undefined, Found> {
    const wanted = wantedOf(params.text);
    if (wanted.kind === "words" && this.index.make()) return this.byIndex(params, wanted);
    return yield* this.byScan(params, wanted);
  }

  private byIndex(params: Params, wanted: Extract<Wanted, { kind: "words" }>): Found {
    const { sql, values } = this.filter(params);
    const from = `FROM response_index t JOIN rollout r ON r.id = t.rowid ${joined} WHERE t.response_index MATCH ? AND t.rowid < ? AND ${sql}`;
    const before = cursorOf(params.after);
    const found = rows<HitRow>(
      this.statements
        .once(`SELECT ${columns} ${from} ORDER BY t.rowid DESC LIMIT ?`)
        .all(wanted.match, before, ...values, params.limit + 1),
    );
    const total = params.after === undefined ? this.count(from, [wanted.match, before, ...values]) : 0;
    return {
      ...paged(found, params.limit, (text) => markWords(text, wanted)),
      total,
      atLeast: total >= mostCounted,
      how: "index",
    };
  }

  private count(from: string, values: readonly unknown[]): number {
    const counted = this.statements
      .once(`SELECT count(*) AS n FROM (SELECT 1 ${from} LIMIT ${mostCounted})`)
      .get(...values);
    return row<{ n: number }>(counted)?.n ?? 0;
  }

  /** A page is what was found in a number of rows: it may be empty, and there is a next one all the same. */
  private *byScan(params: Params, wanted: Wanted): Generator<undefined, Found> {
    const { sql, values } = this.filter(params);
    const hits: RolloutHit[] = [];
    let before = cursorOf(params.after);
    for (const until = performance.now() + scanFor; hits.length < params.limit;) {
      const page = rows<HitRow>(
        this.statements
          .once(
            `SELECT ${columns} FROM rollout r ${joined} WHERE r.id < ? AND r.response IS NOT NULL AND ${sql} ORDER BY r.id DESC LIMIT ?`,
          )
          .all(before, ...values, scanRows),
      );
      const ranges = found(
        page.map(({ response }) => textOf(response) ?? ""),
        wanted,
      );
      for (const [at, range] of ranges.entries()) {
        const one = page[at]!;
        if (hits.length === params.limit) break;
        before = one.id;
        if (range.length > 0) hits.push(hitOf(one, range));
      }
      if (page.length < scanRows && hits.length < params.limit)
        return { hits, total: hits.length, atLeast: params.after !== undefined, next: null, how: "scan" };
      if (performance.now() > until) break;
      yield;
    }
    return { hits, total: hits.length, atLeast: true, next: String(before), how: "scan" };
  }

  private filter({ run, where }: Params): {
    readonly sql: string;
    readonly values: readonly (string | number)[];
  } {
    const condition = where === undefined || where.trim() === "" ? undefined : compileWhere(where);
    const parts = [
      ...(run === undefined ? [] : ["r.run = ?"]),
      ...(condition === undefined ? [] : [condition.sql]),
    ];
    return {
      sql: parts.length === 0 ? "1" : parts.join(" AND "),
      values: [...(run === undefined ? [] : [run]), ...(condition?.parameters ?? [])],
    };
  }
}

/** Milliseconds that one question looks through texts. */
const scanFor = 1_500;

/** Where something was found in each text: empty where nothing was. */
function found(
  texts: readonly string[],
  wanted: Wanted,
): readonly (readonly (readonly [number, number])[])[] {
  if (wanted.kind === "words")
    return texts.map((text) => {
      const marks = markWords(text, wanted);
      const all = wanted.marks.every((mark) => markWords(text, { ...wanted, marks: [mark] }).length > 0);
      return all ? marks : [];
    });
  try {
    return matchAll(texts, wanted).map((range) => (range === null ? [] : [range]));
  } catch (error) {
    if (!isTimeout(error)) throw error;
    throw new UserError(`The regular expression takes too long: /${wanted.source}/.`, {
      code: "search",
      cause: error,
      action: "Avoid repetitions within repetitions, such as (a+)+.",
    });
  }
}

/** The error is of the context that the expression ran in: an Error of another kind. */
const isTimeout = (error: unknown): boolean =>
  typeof error === "object" &&
  error !== null &&
  "code" in error &&
  error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT";

function paged(
  page: readonly HitRow[],
  limit: number,
  marks: (text: string) => readonly (readonly [number, number])[],
): Pick<Found, "hits" | "next"> {
  const kept = page.slice(0, limit);
  return {
    hits: kept.map((one) => hitOf(one, marks(textOf(one.response) ?? ""))),
    next: page.length > limit ? String(kept.at(-1)?.id) : null,
  };
}

function hitOf(
  { run, attempt, step, group, index, task, arm, reward, response }: HitRow,
  ranges: readonly (readonly [number, number])[],
): RolloutHit {
  return {
    run,
    attempt,
    step,
    group: textOf(group),
    index,
    task: textOf(task),
    arm: textOf(arm),
    reward: reward === null ? null : toWire(reward),
    snippet: snippetOf(textOf(response) ?? "", ranges),
  };
}

/** Rows before this one. */
function cursorOf(after: string | undefined): number {
  const id = Number(after ?? Number.MAX_SAFE_INTEGER);
  if (Number.isSafeInteger(id)) return id;
  throw new UserError("The place to go on from is none that a search has given.", {
    code: "search",
    action: "Search again, without `after`.",
  });
}
