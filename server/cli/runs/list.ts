/** `gradus runs list`: the runs of a store as a table, filtered and sorted by expressions. */
import type { Command as Program } from "commander";
import { existsSync } from "node:fs";
import { ask } from "../../../shared/daemon/request.ts";
import { runsList } from "../../../shared/protocol/protocol.ts";
import { complain, print, printJson } from "../command.ts";
import { whole } from "../options.ts";
import { hiddenText, runTable } from "../text/runTable.ts";
import { common } from "./ofRun.ts";
import { storeOf, withDaemon } from "./store.ts";

interface ListOptions {
  readonly store?: string;
  readonly json?: boolean;
  readonly limit: number;
  readonly where?: string;
  readonly sort?: string;
  readonly all?: boolean;
}

/** Values of a run's reward in a row. */
const sparkWidth = 12;
const noRuns = "No runs yet. Start one: gradus run FILE";

export function listCommand(program: Program): void {
  common(
    program.command("list", { isDefault: true }).description("list the runs of this store, latest first"),
  )
    .option("--limit <n>", "how many", whole(1), 50)
    .option(
      "--where <expression>",
      "only runs that it holds for, e.g. 'reward/mean@last > 0.4 and config.rollout.group >= 8'; names: status, name, tag, verdict, age, config.KEY, metrics",
    )
    .option("--sort <name>", "by a name of these expressions; -NAME from the largest on")
    .option("--all", "archived runs too")
    .action((options: ListOptions) => list(options));
}

async function list({ store, json, limit, where, sort, all }: ListOptions): Promise<void> {
  // Before the first run there is neither a store nor a reason to start a daemon.
  if (!existsSync(storeOf(store))) return json === true ? printJson({ runs: [] }) : print(noRuns);
  const chosen = {
    ...(where === undefined ? {} : { where }),
    ...(sort === undefined ? {} : { sort }),
  };
  await withDaemon(store, async (connection) => {
    if (json === true) return printJson(await ask(connection, runsList, { limit, ...chosen }));
    const { runs } = await ask(connection, runsList, { limit, ...chosen, sparks: sparkWidth });
    if (runs.length === 0) return print(where === undefined ? noRuns : "No run is like that.");
    const asked = all === true || where?.includes("archived") === true;
    const shown = asked ? runs : runs.filter(({ archived }) => archived !== true);
    const width = process.stdout.isTTY && process.stdout.columns > 0 ? process.stdout.columns : undefined;
    if (shown.length > 0) print(runTable(shown, width, Date.now()).join("\n"));
    if (shown.length < runs.length) complain(hiddenText(runs.length - shown.length));
  });
}
