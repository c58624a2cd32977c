/** What the store has of a sweep: its runs by their tag. */
import { ask, type Requester } from "../../../shared/daemon/request.ts";
import type { Json, JsonObject } from "../../../shared/lib/json.ts";
import {
  evaluationsQuery,
  eventsQuery,
  runsList,
  runsShow,
  type RunDetail,
  type RunSummary,
} from "../../../shared/protocol/protocol.ts";
import { stepsMade } from "../../../shared/run/origin.ts";
import { stoppedEarly } from "../../../shared/run/run.ts";
import { valueAt } from "../../analysis/evidence/json.ts";
import type { SweepPoint } from "../../analysis/sweep/median.ts";
import { comparable } from "../../analysis/sweep/plan.ts";
import type { SweepRun } from "../../analysis/sweep/table.ts";
import { segments } from "../../config/address.ts";
import { readRunFile } from "../../store/files.ts";

export interface RecordedRun extends SweepRun {
  readonly summary: RunSummary;
  /** Its config, but for the seed. */
  readonly tree: JsonObject;
  /** Its evaluations. */
  readonly course: readonly SweepPoint[];
}

const mostRuns = 100_000;

export async function sweepSummaries(connection: Requester, tag: string): Promise<readonly RunSummary[]> {
  const where = `tag == ${JSON.stringify(tag)}`;
  const { runs } = await ask(connection, runsList, { limit: mostRuns, where });
  return runs.toReversed();
}

/** The oldest first. @param keys of the parameters */
export async function recordedRuns(
  connection: Requester,
  tag: string,
  { keys, metric }: { readonly keys: readonly string[]; readonly metric: string },
): Promise<readonly RecordedRun[]> {
  const found: RecordedRun[] = [];
  for (const summary of await sweepSummaries(connection, tag))
    found.push(await recordedRun(connection, summary, keys, metric));
  return found;
}

async function recordedRun(
  connection: Requester,
  summary: RunSummary,
  keys: readonly string[],
  metric: string,
): Promise<RecordedRun> {
  const { id: run, status, seed = null } = summary;
  const detail = await ask(connection, runsShow, { run });
  const course = await courseOf(connection, summary, metric);
  return {
    summary,
    run,
    seed,
    status,
    values: valuesOf(detail, keys),
    stopped: status === "stopped" && (await wasStoppedEarly(connection, run)),
    steps: stepsMade(summary),
    value: course.at(-1)?.value ?? null,
    tree: comparable(detail.config, detail.file),
    course,
  };
}

export async function courseOf(
  connection: Requester,
  summary: RunSummary,
  metric: string,
): Promise<readonly SweepPoint[]> {
  const { evaluations } = await ask(connection, evaluationsQuery, { run: summary.id });
  return evaluations.flatMap(({ step, metrics }) => {
    const value = metrics[metric];
    return value === undefined ? [] : [{ steps: stepsMade({ ...summary, step }), value }];
  });
}

async function wasStoppedEarly(connection: Requester, run: string): Promise<boolean> {
  const { events } = await ask(connection, eventsQuery, { run, limit: mostRuns });
  return events.some(({ name }) => name === stoppedEarly);
}

/** As they were set for the run; a key that was swept later has the config's own value. */
function valuesOf({ folder, config }: RunDetail, keys: readonly string[]): Readonly<Record<string, Json>> {
  const set = readRunFile(folder)?.set ?? [];
  return Object.fromEntries(
    keys.map((key): [string, Json] => {
      const own = set.findLast((one) => one.startsWith(`${key}=`));
      const value = own === undefined ? undefined : parsed(own.slice(key.length + 1));
      return [key, value ?? valueAt(config, segments(key)) ?? null];
    }),
  );
}

/** A sweep writes JSON; what a person has set may be any YAML, and then the config says what it is. */
function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
