/** What a run is going to take, by the last run of the same config on the same site; its tokens by a rehearsal anywhere. */
import { existsSync } from "node:fs";
import { ask, type Requester } from "../../../shared/daemon/request.ts";
import { meanOrNull } from "../../../shared/lib/mean.ts";
import { stepClocks } from "../../../shared/metrics/timeMetrics.ts";
import { metricsSeries, runsList } from "../../../shared/protocol/protocol.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import { processesOf } from "../../sites/check/pairFindings.ts";
import { estimateCost, type CostEstimate } from "../../sites/cost.ts";
import { plannedSteps } from "../../sites/run/projectFeed.ts";
import type { Site } from "../../sites/siteOf.ts";
import { runsFolder } from "../../store/files.ts";
import { withDaemon } from "../runs/store.ts";
import { isSamePath } from "../../../shared/lib/liesIn.ts";

interface Measured {
  /** Of the last run on the site. */
  readonly steps?: { readonly run: string; readonly seconds: readonly number[] } | undefined;
  /** Mean tokens of a response, on the site or else in a rehearsal. */
  readonly length?: number | undefined;
}

export async function expectedCost(config: RunConfig, site: Site, store: string): Promise<CostEstimate> {
  const measured = existsSync(runsFolder(store))
    ? await withDaemon(store, (connection) => lastMeasured(connection, config, site))
    : {};
  const { prompts, group, max_tokens } = config.top.rollout;
  return estimateCost({
    steps: plannedSteps(config),
    measured: measured.steps?.seconds ?? [],
    by: measured.steps?.run,
    gpus: processesOf(site.config.launch) ?? 0,
    price: site.config.price,
    mostTokens: prompts * group * max_tokens,
    tokens: measured.length === undefined ? undefined : measured.length * prompts * group,
  });
}

/** Runs that are looked through for one that measured its steps. */
const looked = 20;
const lengths = "rollout/length";

export async function lastMeasured(
  connection: Requester,
  { file }: Pick<RunConfig, "file">,
  { reference }: Pick<Site, "reference">,
): Promise<Measured> {
  const { runs } = await ask(connection, runsList, { limit: 1000 });
  const own = runs.filter((run) => isSamePath(run.file, file));
  const there = own.filter((run) => run.origin?.site?.site === reference).slice(0, looked);
  const rehearsed = own.filter((run) => !there.includes(run)).slice(0, looked);
  let steps: Measured["steps"];
  let length: number | undefined;
  for (const run of [...there, ...rehearsed]) {
    const rehearsal = !there.includes(run);
    if (length !== undefined && (steps !== undefined || rehearsal)) break;
    const found = await seriesOf(connection, run.id);
    length ??= found.length ?? undefined;
    if (!rehearsal && found.seconds.length > 0) steps ??= { run: run.id, seconds: found.seconds };
  }
  return { steps, length };
}

async function seriesOf(
  connection: Requester,
  run: string,
): Promise<{ readonly seconds: readonly number[]; readonly length: number | null }> {
  const { series } = await ask(connection, metricsSeries, { run, metrics: [...stepClocks, lengths] });
  const valuesOf = (metric: string): number[] =>
    series
      .filter((one) => one.metric === metric)
      .flatMap(({ values }) => values.flatMap((value) => (typeof value === "number" ? [value] : [])));
  return {
    seconds: stepClocks.map(valuesOf).find(({ length }) => length > 0) ?? [],
    length: meanOrNull(valuesOf(lengths)),
  };
}
