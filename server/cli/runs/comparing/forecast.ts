/** `gradus runs forecast A [B …]`: where runs are going, and which of them gets further. */
import type { Command as Program } from "commander";
import { ask, type Requester } from "../../../../shared/daemon/request.ts";
import { UserError } from "../../../../shared/lib/errors.ts";
import { stepClocks } from "../../../../shared/metrics/timeMetrics.ts";
import { metricsSeries, type RunSummary } from "../../../../shared/protocol/protocol.ts";
import { stepsMade, stepsPlanned } from "../../../../shared/run/origin.ts";
import { runForecast, type RunForecast } from "../../../analysis/forecast/runForecast.ts";
import { print, printJson } from "../../command.ts";
import { whole } from "../../options.ts";
import { forecastLines, type NamedForecast } from "./forecastText.ts";
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
  const found: NamedForecast[] = [];
  for (const word of words) {
    const run = await findRun(connection, word);
    found.push({ run: run.id, ...(await forecastOf(connection, run, metric, more)) });
  }
  const [first, ...others] = found;
  const above = others.map((other) => first!.curve.above(other.curve));
  if (json === true)
    printJson(
      found.map(({ curve: _, ...one }, i) => ({
        ...one,
        ...(i === 0 ? {} : { first_ends_higher: above[i - 1] }),
      })),
    );
  else for (const line of forecastLines(found, above)) print(line);
}

/** Latest steps whose pace is taken to go on. */
const paced = 50;

async function forecastOf(
  connection: Requester,
  run: RunSummary,
  metric: string,
  more: number | undefined,
): Promise<RunForecast> {
  const { series } = await ask(connection, metricsSeries, {
    run: run.id,
    metrics: [metric, ...stepClocks],
    maxPoints: 20_000,
  });
  const score = series.find((one) => one.metric === metric);
  const pace = stepClocks.flatMap((name) => series.find((one) => one.metric === name) ?? [])[0];
  const seconds = (pace?.values.slice(-paced) ?? []).filter((value) => value !== null);
  const left = Math.max(0, stepsPlanned(run) - stepsMade(run));
  const { steps = [], values = [] } = score ?? {};
  const found = runForecast({ metric, steps, values, seconds, left, more });
  if (found !== undefined) return found;
  throw new UserError(`${run.id} has too few values of ${metric} to forecast.`, {
    code: "forecast-few",
    action: "It takes at least 6 that differ: wait, or name another metric: --metric eval/pass@1.",
  });
}
