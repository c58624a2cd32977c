/** `gradus runs compare A B …`: what differs in runs, how each went, and how sure the difference is. */
import { Option, type Command as Program } from "commander";
import { ask, type Requester } from "../../../../shared/daemon/request.ts";
import { runsCompare, runsList } from "../../../../shared/protocol/protocol.ts";
import { UserError } from "../../../../shared/lib/errors.ts";
import { mostCompared } from "../../../../shared/run/comparison.ts";
import { powerLawOf } from "../../../analysis/compare/powerLaw.ts";
import { print, printJson } from "../../command.ts";
import { powerLawLines } from "./powerLawText.ts";
import { comparisonLines } from "../../text/comparisonText.ts";
import { findRun, withDaemon } from "../store.ts";

interface CompareOptions {
  readonly store?: string;
  readonly json?: boolean;
  readonly metric?: readonly string[];
  readonly where?: string;
  readonly powerLaw?: string;
}

export function compareCommand(program: Program): void {
  program
    .command("compare")
    .description(
      "compare runs: sources, configs, held-out results with intervals, and metrics; seeds count as one",
    )
    .argument("[runs...]", "two runs or more; the first is what the others are compared with")
    .addOption(new Option("--where <expression>", "also the runs that this holds for, as for `runs list`"))
    .option("--metric <name...>", "metrics to show instead of the usual ones")
    .option(
      "--power-law <key>",
      "fit metric = α·X^β over the runs, X the number at this key, or how many items its list has",
    )
    .option("--store <folder>", "the store, or a folder in its workspace")
    .option("--json", "one JSON value")
    .action((runs: string[], options: CompareOptions) =>
      withDaemon(options.store, (connection) => compare(connection, runs, options)),
    );
}

async function compare(
  connection: Requester,
  words: readonly string[],
  { json, metric = [], where, powerLaw: key }: CompareOptions,
): Promise<void> {
  const named = await Promise.all(words.map((word) => findRun(connection, word)));
  const found =
    where === undefined ? [] : (await ask(connection, runsList, { limit: mostCompared + 1, where })).runs;
  // The oldest first: what came later is compared with it.
  const runs = [...new Set([...named, ...found.toReversed()].map(({ id }) => id))];
  if (runs.length < 2)
    throw new UserError(
      runs.length === 0 ? "No run is named." : `There is only one run to compare: ${runs[0]}.`,
      { action: "Name two runs, or an expression that holds for several: gradus runs compare A B." },
    );
  if (runs.length > mostCompared)
    throw new UserError(`These are too many runs to compare: ${mostCompared} at most.`, {
      action: "Name fewer, or narrow the expression.",
    });
  const fitted = key === undefined ? [] : [metric[0] ?? "eval/pass@1"];
  const answer = await ask(connection, runsCompare, { runs, metrics: [...new Set([...metric, ...fitted])] });
  const law = key === undefined ? undefined : powerLawOf(answer, key, fitted[0]!);
  if (json === true) return printJson({ ...answer, ...(law !== undefined && { powerLaw: law }) });
  const width = process.stdout.columns > 0 ? process.stdout.columns : 80;
  print([...comparisonLines(answer, width), ...(law === undefined ? [] : powerLawLines(law))].join("\n"));
}
