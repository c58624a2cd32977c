/** What a run learned and forgot, where it is going, and what it can do that it could not at first: for its page. */
import { ask, type Requester } from "../../../../shared/daemon/request.ts";
import {
  evaluationsQuery,
  rolloutsQuery,
  runsBoundary,
  runsForecast,
} from "../../../../shared/protocol/protocol.ts";
import type { RolloutRow } from "../../../../shared/rollouts/rollouts.ts";
import type { BoundaryReport } from "../../../../shared/run/boundaryReport.ts";
import { leastValues } from "../../../../shared/run/forecast.ts";
import type { CourseReport } from "../../../../shared/run/forecastReport.ts";
import { turnover, type Forgotten, type Turnover } from "../../../../shared/run/turnover.ts";

/** A forgotten task with its last right answer and its first wrong one; undefined: not kept. */
export interface ForgottenAnswers extends Forgotten {
  readonly right: RolloutRow | undefined;
  readonly wrong: RolloutRow | undefined;
}

/** Each absent where the run's evaluations do not tell. */
export interface Findings {
  readonly turnover?: Turnover;
  readonly forgotten?: readonly ForgottenAnswers[];
  readonly forecast?: CourseReport;
  /** The last evaluation against the first. */
  readonly boundary?: BoundaryReport;
}

const mostForgotten = 12;

export async function readFindings(connection: Requester, run: string): Promise<Findings> {
  const { evaluations } = await ask(connection, evaluationsQuery, { run, tasks: true });
  const known = evaluations.flatMap(({ step, results }) =>
    results === undefined ? [] : [{ step, results }],
  );
  const found = turnover(known);
  const steps = evaluations.map(({ step }) => step);
  const forecast = await forecastOf(connection, run, steps);
  if (found === undefined) return { ...(forecast && { forecast }) };
  const sides = { own: { run }, other: { run, step: found.first } };
  const boundary = await ask(connection, runsBoundary, sides);
  const answers = await keptOf(connection, run, found.forgotten);
  return { turnover: found, forgotten: answers, boundary, ...(forecast && { forecast }) };
}

async function forecastOf(
  connection: Requester,
  run: string,
  steps: readonly number[],
): Promise<CourseReport | undefined> {
  const more = Math.round(((steps.at(-1) ?? 0) - (steps[0] ?? 0)) / 2);
  if (steps.length < leastValues || more < 1) return undefined;
  const asked = { runs: [run], metric: "eval/pass@1", more };
  return (await ask(connection, runsForecast, asked)).forecasts[0] ?? undefined;
}

/** Tasks whose answers were kept come first, then those that were lost last. */
async function keptOf(
  connection: Requester,
  run: string,
  forgotten: readonly Forgotten[],
): Promise<readonly ForgottenAnswers[]> {
  const byStep = new Map<number, ReadonlyMap<string, RolloutRow>>();
  for (const step of new Set(forgotten.flatMap(({ solved, lost }) => [solved, lost]))) {
    const asked = { run, step, where: 'use == "evaluate" && index == 0', limit: 2_000 };
    const { rollouts } = await ask(connection, rolloutsQuery, asked);
    byStep.set(
      step,
      new Map(rollouts.flatMap((row) => (row.task?.id === undefined ? [] : [[row.task.id, row]]))),
    );
  }
  return forgotten
    .map((one) => ({
      ...one,
      right: byStep.get(one.solved)?.get(one.task),
      wrong: byStep.get(one.lost)?.get(one.task),
    }))
    .toSorted((a, b) => Number(a.right === undefined) - Number(b.right === undefined) || b.lost - a.lost)
    .slice(0, mostForgotten);
}
