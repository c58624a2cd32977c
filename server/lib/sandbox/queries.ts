/**
 * Queries of SQLite that a model wrote, on a database that exists only while they run: in the sandbox for Python, whose SQLite has no
 * file to open. They may read, and nothing else.
 */
import { z } from "zod";
import type { Sandbox } from "./sandbox.ts";

const cell = z.union([z.number(), z.string(), z.null()]);
export type Cell = z.output<typeof cell>;
const table = z.object({
  columns: z.array(z.string()),
  rows: z.array(z.array(cell)),
  /** There were more rows. */
  cut: z.boolean(),
});
export type Table = z.output<typeof table>;
const answers = z.array(z.union([table, z.object({ error: z.string() })]));
/** What a query gave, or why it gave nothing. */
export type Answer = z.output<typeof answers>[number];

export interface Queries {
  /** SQL that makes the database. */
  readonly schema: string;
  readonly queries: readonly string[];
  /** Most rows of an answer. */
  readonly rows: number;
  /** That all of it may take. */
  readonly seconds: number;
  /** MiB. */
  readonly memory: number;
}

/** 20 reading a column, 21 SELECT, 31 a function, 33 a recursive query: all else would change something. */
const program = `import json, sqlite3, sys
asked = json.load(sys.stdin)
base = sqlite3.connect(":memory:")
base.executescript(asked["schema"])
base.set_authorizer(lambda action, *_: 0 if action in (20, 21, 31, 33) else 1)
def plain(cell):
    if isinstance(cell, bytes):
        return cell.hex()
    if isinstance(cell, float) and (cell != cell or cell in (float("inf"), float("-inf"))):
        return str(cell)
    return cell
def answer(query):
    try:
        cursor = base.execute(query)
        if cursor.description is None:
            return {"error": "it is no query"}
        rows = cursor.fetchmany(asked["rows"] + 1)
    except sqlite3.Error as error:
        return {"error": str(error)}
    except sqlite3.Warning as error:
        return {"error": str(error)}
    kept = [[plain(cell) for cell in row] for row in rows[: asked["rows"]]]
    return {"columns": [column[0] for column in cursor.description], "rows": kept, "cut": len(rows) > asked["rows"]}
print(json.dumps([answer(query) for query in asked["queries"]]))
`;

/**
 * An answer a query, in order; one text where the database cannot be made, or all of it took too long or too much memory.
 * @throws where the sandbox itself is missing or aborted
 */
export async function answersTo(
  sandbox: Sandbox,
  { schema, queries, rows, seconds, memory }: Queries,
  signal?: AbortSignal,
): Promise<readonly Answer[] | string> {
  const stdin = JSON.stringify({ schema, queries, rows });
  const { stdout, failure } = await sandbox.run(
    { language: "python", code: program, stdin, seconds, memory },
    signal,
  );
  if (failure !== undefined) return failure.message;
  return answers.parse(JSON.parse(stdout));
}
