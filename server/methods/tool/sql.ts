import { z } from "zod";
import { param, tool } from "../../core/declaration.ts";
import { refers } from "../../core/references.ts";
import type { Tool, Tools } from "../../core/slots/tool.ts";
import { fieldOf } from "../../core/templates.ts";
import { openSandbox } from "../../lib/sandbox/openSandbox.ts";
import { answersTo, type Answer } from "../../lib/sandbox/queries.ts";
import type { Sandbox } from "../../lib/sandbox/sandbox.ts";

const params = z.object({
  field: param(
    refers({ to: "field" }).default("schema"),
    "Field of the task's data with the SQL that makes its database: CREATE TABLE and INSERT.",
  ),
  name: param(
    z.string().regex(/^\w+$/, { message: "must be a word" }).default("sql"),
    "What the policy calls it.",
  ),
  rows: param(z.number().int().min(1).max(1000).default(10), "Rows of a result; of more it says so."),
  seconds: param(z.number().positive().max(600).default(5), "Seconds that a query may take."),
  memory: param(z.number().int().min(40).max(2048).default(256), "MiB that a query may take."),
});
type Params = z.output<typeof params>;

const asText = (answer: Answer, rows: number): string =>
  "error" in answer
    ? `Error: ${answer.error}`
    : [
        answer.columns.join(" | "),
        ...answer.rows.map((row) => row.map((cell) => String(cell ?? "NULL")).join(" | ")),
        ...(answer.rows.length === 0 ? ["(no rows)"] : []),
        ...(answer.cut ? [`(more than ${rows} rows; the rest is left out)`] : []),
      ].join("\n");

function sqlTool(sandbox: Sandbox, { field, name, rows, seconds, memory }: Params): Tool {
  return {
    name,
    description: "Runs a query of SQLite on the task's database and returns its rows. It can only read.",
    parameters: {
      type: "object",
      properties: { query: { type: "string", description: "The SQL query." } },
      required: ["query"],
    },
    async call({ query }, { task, signal }) {
      if (typeof query !== "string" || query.trim() === "") return "Error: `query` must be a text with SQL.";
      const schema = task === undefined ? undefined : fieldOf(task, field);
      if (typeof schema !== "string")
        throw new Error(
          `the tool ${name} needs the SQL of a database in the field \`${field}\`, and task ${task?.id ?? ""} has none`,
        );
      const done = await answersTo(sandbox, { schema, queries: [query], rows, seconds, memory }, signal);
      return typeof done === "string" ? `Error: the query ${done}` : asText(done[0]!, rows);
    },
  };
}

export const sql = tool({
  name: "sql",
  summary:
    "A query of SQLite on a database of the task's own, which each query finds as it was, in WebAssembly: it can read, and reach no file. A query that fails, hangs or takes too much memory is a text for the policy.",
  formula: "query → rows, or the error",
  sources: ["MARS-SQL: A multi-agent reinforcement learning framework for Text-to-SQL"],
  params,
  create: (options, context): Tools => {
    const sandbox = openSandbox(context.sandbox);
    return {
      open: () => Promise.resolve([sqlTool(sandbox, options)]),
      close: () => sandbox.close(),
    };
  },
});
