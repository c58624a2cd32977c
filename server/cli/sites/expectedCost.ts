/** What a run is going to take, by the last run of the same config on the same site. */
import { existsSync } from "node:fs";
import { ask, type Requester } from "../../../shared/daemon/request.ts";
import { meanOrNull } from "../../../shared/lib/mean.ts";
import { metricsSeries, runsList } from "../../../shared/protocol/protocol.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import { processesOf } from "../../sites/check/pairFindings.ts";
import { estimateCost, type CostEstimate } from "../../sites/cost.ts";
import { plannedSteps } from "../../sites/run/projectFeed.ts";
import type { Site } from "../../sites/siteOf.ts";
import { runsFolder } from "../../store/files.ts";
import { withDaemon } from "../runs/store.ts";

interface Measured {
  readonly run: string;
  readonly seconds: readonly number[];
  readonly tokens: number | undefined;
}

export async function expectedCost(config: RunConfig, site: Site, store: string): Promise<CostEstimate> {
  const measured = existsSync(runsFolder(store))
    ? await withDaemon(store, (connection) => lastMeasured(connection, config, site))
    : undefined;
  const { prompts, group, max_tokens } = config.top.rollout;
  return estimateCost({
    steps: plannedSteps(config),
    measured: measured?.seconds ?? [],
    by: measured?.run,
    gpus: processesOf(site.config.launch) ?? 0,
    price: site.config.price,
    mostTokens: prompts * group * max_tokens,
    tokens: measured?.tokens,
  });
}

/** Runs that are looked through for one that measured its steps. */
const looked = 20;
/** Seconds of a step; the others are of runs that were imported when the list of metrics had no name for them. */
const clocks = ["time/total", "step_time", "timing_s/step"];
const lengths = "rollout/length";

async function lastMeasured(
  connection: Requester,
  { file, top }: RunConfig,
  { reference }: Site,
): Promise<Measured | undefined> {
  const { runs } = await ask(connection, runsList, { limit: 1000 });
  const own = runs
    .filter((run) => run.file === file && run.origin?.site?.site === reference)
    .slice(0, looked);
  for (const { id } of own) {
    const { series } = await ask(connection, metricsSeries, { run: id, metrics: [...clocks, lengths] });
    const valuesOf = (metric: string): number[] =>
      series
        .filter((one) => one.metric === metric)
        .flatMap(({ values }) => values.flatMap((value) => (typeof value === "number" ? [value] : [])));
    const steps = clocks.map(valuesOf).find(({ length }) => length > 0);
    const length = meanOrNull(valuesOf(lengths));
    const { prompts, group } = top.rollout;
    if (steps !== undefined)
      return { run: id, seconds: steps, tokens: length === null ? undefined : length * prompts * group };
  }
  return undefined;
}
