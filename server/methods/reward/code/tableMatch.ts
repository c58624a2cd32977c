import { z } from "zod";
import { param, rewardTerm } from "../../../core/declaration.ts";
import { refers } from "../../../core/references.ts";
import type { RolloutRecord } from "../../../core/rollouts.ts";
import type { RewardTerm } from "../../../core/reward.ts";
import type { TermValue } from "../../../core/slots/reward.ts";
import { fieldOf } from "../../../core/templates.ts";
import { openSandbox } from "../../../lib/sandbox/openSandbox.ts";
import { answersTo, type Answer } from "../../../lib/sandbox/queries.ts";
import type { Sandbox } from "../../../lib/sandbox/sandbox.ts";
import { failure, value } from "../perRow.ts";
import { lastIn } from "../text/lastIn.ts";
import { matchedShare, sameTable } from "./tables.ts";

const params = z.object({
  value: param(
    z.enum(["partial", "same"]).default("partial"),
    "partial: 0 where the query fails, `floor` where nothing matches, else `scale` times the share that does; same: 1 where both results have the same rows, in any order, else 0.",
  ),
  floor: param(z.number().default(0.5), "Reward of a query that runs and matches nothing."),
  scale: param(z.number().positive().default(10), "Reward of a result that matches in all."),
  off: param(
    z.number().int().min(0).default(5),
    "By how many rows a result may be longer or shorter, and still match in part.",
  ),
  field: param(refers({ to: "field" }).default("sql"), "Field of the task's data with the reference query."),
  schema: param(
    refers({ to: "field" }).default("schema"),
    "Field of the task's data with the SQL that makes the database.",
  ),
  tag: param(
    z.string().optional(),
    "Tag that the query is in, e.g. `answer`. Absent: the last ```sql block, else the whole response.",
  ),
  seconds: param(z.number().positive().max(600).default(5), "Seconds that both queries may take."),
  memory: param(z.number().int().min(40).max(2048).default(256), "MiB that they may take."),
});
type Params = z.output<typeof params>;

/** Rows that are compared. */
const mostRows = 10_000;

function queryOf(response: string, tag: string | undefined): string {
  const said = tag === undefined ? response : (lastIn(response, tag) ?? "");
  // Of the texts between fences each second one is a block, if a fence follows.
  const parts = said.split("```");
  const last = parts.length - (parts.length % 2 === 0 ? 3 : 2);
  return (parts[last]?.replace(/^(?:sql(?:ite)?)?/i, "") ?? said).trim();
}

function scored(gold: Answer, own: Answer, { value: kind, floor, scale, off }: Params): TermValue {
  if ("error" in gold) return failure(`the reference query fails: ${gold.error}`);
  if ("error" in own) return value(0);
  if (kind === "same") return value(sameTable(gold, own) ? 1 : 0);
  const share = matchedShare(gold, own, off);
  return value(share === 0 ? floor : scale * share);
}

async function judged(
  sandbox: Sandbox,
  { task, response }: RolloutRecord,
  options: Params,
  signal: AbortSignal | undefined,
): Promise<TermValue> {
  const [schema, gold] = [fieldOf(task, options.schema), fieldOf(task, options.field)];
  if (typeof schema !== "string" || typeof gold !== "string")
    return failure(
      `table_match needs a database in the field \`${options.schema}\` and a query in \`${options.field}\`, and task ${task.id} lacks one`,
    );
  const query = queryOf(response, options.tag);
  const { seconds, memory } = options;
  const run = (queries: readonly string[]) =>
    answersTo(sandbox, { schema, queries, rows: mostRows, seconds, memory }, signal);
  const both = await run([gold, query]);
  if (typeof both !== "string") return scored(both[0]!, both[1]!, options);
  // Whose fault it was: the reference alone must come to its end.
  const alone = await run([gold]);
  if (typeof alone === "string") return failure(`the reference query ${alone}`);
  return scored(alone[0]!, { error: both }, options);
}

export const tableMatch = rewardTerm({
  name: "table_match",
  summary:
    "Runs the response's SQL query and the task's on the task's database, and rewards how much of the reference result it returns.",
  formula:
    "partial: 0 if it fails, 0.5 if nothing matches, else 10 · matched rows · matched columns / (rows · columns) · same: 1[same rows]",
  sources: ["PaVeRL-SQL: Text-to-SQL via Partial-Match Rewards and Verbal Reinforcement Learning"],
  status: "approximate",
  judges: "answer",
  range: ({ value: kind, floor, scale }) => (kind === "same" ? [0, 1] : [0, Math.max(floor, scale)]),
  params,
  create: (options, context): RewardTerm => {
    const sandbox = openSandbox(context.sandbox);
    return {
      score: (batch, { signal }) =>
        Promise.all(batch.records.map((record) => judged(sandbox, record, options, signal))),
      close: () => sandbox.close(),
    };
  },
});
