/** What the commands of `gradus runs` that are about one run share. */
import type { Command as Program } from "commander";
import type { Requester } from "../../../shared/daemon/request.ts";
import type { RunSummary } from "../../../shared/protocol/protocol.ts";
import { findRun, withDaemon } from "./store.ts";

export interface Options {
  readonly store?: string;
  readonly json?: boolean;
}
type Act<Own> = (connection: Requester, run: RunSummary, options: Options & Own) => Promise<void>;

export const common = (program: Program): Program =>
  program
    .option("--store <folder>", "the store, or a folder in its workspace")
    .option("--json", "one JSON value");

export function ofRun<Own = object>(program: Program, name: string, summary: string, act: Act<Own>): Program {
  return common(
    program
      .command(name)
      .description(summary)
      .argument("<run>", "its id, a prefix of the id, its name, or `last`"),
  ).action((words: string, options: Options & Own) =>
    withDaemon(options.store, async (connection) =>
      act(connection, await findRun(connection, words), options),
    ),
  );
}
