/** Gathers what a comparison of runs is made of: from the store, and from the runs' folders. */
import { setImmediate } from "node:timers/promises";
import type { JsonObject } from "../../../shared/lib/json.ts";
import type {
  EvaluationRow,
  ParamsOf,
  ResultOf,
  RunDetail,
  Series,
  evaluationsQuery,
  metricsNames,
  metricsSeries,
  runsCompare,
  runsShow,
} from "../../../shared/protocol/protocol.ts";
import { readSources } from "../../../shared/run/sources.ts";
import { compareRuns, type RunFacts } from "../../analysis/compare/compare.ts";
import { valueAt } from "../../analysis/evidence/json.ts";
import { assignment, readSettings } from "../../run/loop/settings.ts";
import { readRunFile } from "../../store/files.ts";

type Answer<R> = Promise<ResultOf<R>> | ResultOf<R>;
/** What is asked of the store, wherever it is. */
export interface ComparedStore {
  show(parameters: ParamsOf<typeof runsShow>): Answer<typeof runsShow>;
  names(parameters: ParamsOf<typeof metricsNames>): Answer<typeof metricsNames>;
  series(parameters: ParamsOf<typeof metricsSeries>): Answer<typeof metricsSeries>;
  evaluations(parameters: ParamsOf<typeof evaluationsQuery>): Answer<typeof evaluationsQuery>;
}

/** What is charted where nobody says what, of what the runs have; terms of the reward come after the total. */
const charted: readonly RegExp[] = [
  /^reward\/total$/,
  /^eval\/pass@\d+$/,
  /^eval\/greedy$/,
  /^reward\/(?!total$)[^/]+$/,
  /^groups\/(mixed|zero_advantage)$/,
  /^rollout\/(length|truncated)$/,
  /^policy\/entropy$/,
  /^policy\/kl\/reference$/,
  /^update\/(grad_norm|clip_fraction)$/,
];
const mostCharted = 24;

export async function compare(
  store: ComparedStore,
  { runs, metrics, buckets }: ParamsOf<typeof runsCompare>,
): Promise<ResultOf<typeof runsCompare>> {
  const unique = [...new Set(runs)];
  const wanted = metrics.length > 0 ? metrics : await chartedOf(store, unique);
  const facts: RunFacts[] = [];
  // One after the other: other questions have their turn in between.
  for (const run of unique) facts.push(await factsOf(store, run, wanted, buckets));
  return compareRuns(facts, wanted, setImmediate);
}

async function chartedOf(store: ComparedStore, runs: readonly string[]): Promise<readonly string[]> {
  const names = new Set<string>();
  for (const run of runs) for (const name of (await store.names({ run })).names) names.add(name);
  return charted
    .flatMap((pattern) => [...names].filter((name) => pattern.test(name)).sort(byNumber))
    .slice(0, mostCharted);
}
/** pass@8 after pass@1 and before pass@64. */
const byNumber = (one: string, other: string): number => one.localeCompare(other, "en", { numeric: true });

async function factsOf(
  store: ComparedStore,
  run: string,
  metrics: readonly string[],
  buckets: number,
): Promise<RunFacts> {
  const detail = await store.show({ run });
  const series: readonly Series[] =
    metrics.length === 0
      ? []
      : (await store.series({ run, metrics: [...metrics], from: -1, maxPoints: 1, buckets })).series;
  const { evaluations } = await store.evaluations({ run, tasks: true });
  return {
    id: run,
    name: detail.name,
    step: detail.step,
    config: detail.config,
    authored: detail.authored,
    set: assigned(detail),
    sources: readSources(detail.folder),
    series,
    imported: detail.origin !== undefined,
    last: lastOf(evaluations),
    prompts: promptsOf(detail.config),
  };
}

const lastOf = (evaluations: readonly EvaluationRow[]): EvaluationRow | undefined => evaluations.at(-1);

/** From the command line, then while it was live. */
const assigned = ({ folder }: RunDetail): readonly string[] => [
  ...(readRunFile(folder)?.set ?? []),
  ...readSettings(folder).map(assignment),
];

function promptsOf(config: JsonObject): number | null {
  const prompts = valueAt(config, ["evaluation", "prompts"]);
  return typeof prompts === "number" ? prompts : null;
}
