/** The tool `runs`: a store's runs, or everything known about one, its verdict first of all. */
import type { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { ask } from "../../../shared/daemon/request.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import { runsList } from "../../../shared/protocol/protocol.ts";
import { everythingOf, runJson } from "../runs/everythingOf.ts";
import { findRun, withDaemon } from "../runs/store.ts";
import { plainJson } from "./fence.ts";
import { named, parsed, shown } from "./parameters.ts";
import { answer, reads, type Place } from "./tool.ts";

const parameters = z.strictObject({
  run: named
    .optional()
    .describe(
      "One run with its verdict: its id, a beginning of the id, its name, or `last`. Default: list them.",
    ),
  config: z
    .boolean()
    .default(false)
    .describe("With `run`: the whole config as it was resolved, too. Its text as written is always there."),
  where: z
    .string()
    .max(10_000)
    .optional()
    .describe(
      "Only runs that this holds for, e.g. `reward/mean@last > 0.4 and config.rollout.group >= 8`; names: status, name, tag, verdict, age, config.KEY, metrics.",
    ),
  sort: z
    .string()
    .max(1_000)
    .optional()
    .describe("By a name of these expressions; `-NAME` from the largest on."),
  limit: z.number().int().min(1).max(200).default(20).describe("Runs of the list, the latest first."),
});
type Wish = z.output<typeof parameters>;

export function addRuns(server: McpServer, place: Place): void {
  server.registerTool(
    "runs",
    {
      title: "Runs and their verdicts",
      description:
        "The runs of this store with the verdict of each (learning, flat, collapsed, hacking, …), or one run with the whole verdict: since when, cause, what speaks against it, fixes with their re-scored effect.",
      inputSchema: shown(parameters),
      annotations: reads,
    },
    (wish) => answer("a smaller `limit`, or without `config`", () => runs(place, parsed(parameters, wish))),
  );
}

function runs(
  { store }: Place,
  { run, config: wantsConfig, where, sort, limit }: Wish,
): Promise<readonly string[]> {
  if (run !== undefined && (where !== undefined || sort !== undefined))
    throw new UserError("`where` and `sort` are for the list, not for one run.", {
      code: "usage",
      action: "Leave out `run`, or leave out the other two.",
    });
  return withDaemon(store, async (connection) => {
    if (run !== undefined) {
      const { id } = await findRun(connection, run);
      const { config, ...rest } = runJson(await everythingOf(connection, id));
      return [plainJson(wantsConfig ? { ...rest, config } : rest)];
    }
    const chosen = { ...(where === undefined ? {} : { where }), ...(sort === undefined ? {} : { sort }) };
    return [plainJson(await ask(connection, runsList, { limit, ...chosen }))];
  });
}
