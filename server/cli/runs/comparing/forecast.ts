/** `gradus runs forecast A [B …]`: where runs are going, and which of them gets further. */
import type { Command as Program } from "commander";
import { ask, type Requester } from "../../../../shared/daemon/request.ts";
import { UserError } from "../../../../shared/lib/errors.ts";
import { runsForecast } from "../../../../shared/protocol/protocol.ts";
import { print, printJson } from "../../command.ts";
import { whole } from "../../options.ts";
import { forecastLines } from "./forecastText.ts";
import { findRun, withDaemon } from "../store.ts";

interface ForecastOptions {
  readonly store?: string;
  readonly json?: boolean;
  readonly metric: string;
  readonly more?: number;
}

export function forecastCommand(program: Program): void {
  program
    .command("forecast")
    .description(
      "fit a sigmoid to a run's score: where it ends, and what more steps would bring, each with its 80 % band; of several runs, which gets further",
    )
    .argument("<runs...>", "runs, live or finished")
    .option("--metric <name>", "the score", "reward/total")
    .option("--more <steps>", "further steps to look ahead; default: as many as were made", whole(1))
    .option("--store <folder>", "the store, or a folder in its workspace")
    .option("--json", "one JSON value")
    .action((runs: string[], options: ForecastOptions) =>
      withDaemon(options.store, (connection) => say(connection, runs, options)),
    );
}

async function say(
  connection: Requester,
  words: readonly string[],
  { json, metric, more }: ForecastOptions,
): Promise<void> {
  const runs: string[] = [];
  for (const word of words) runs.push((await findRun(connection, word)).id);
  const { forecasts, firstEndsHigher } = await ask(connection, runsForecast, { runs, metric, more });
  const found = forecasts.map((one, i) => one ?? few(runs[i]!, metric));
  if (json === true)
    printJson(
      found.map((one, i) => ({ ...one, ...(i === 0 ? {} : { first_ends_higher: firstEndsHigher[i] }) })),
    );
  else for (const line of forecastLines(found, firstEndsHigher)) print(line);
}

function few(run: string, metric: string): never {
  throw new UserError(`${run} has too few values of ${metric} to forecast.`, {
    code: "forecast-few",
    action: "It takes at least 6 that differ: wait, or name another metric: --metric eval/pass@1.",
  });
}
