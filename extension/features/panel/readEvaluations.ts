/** A run's evaluations as its panel shows them: the tasks' outcomes stay here, what they allow to be said goes to the panel. */
import { panelTurnover, type PanelTurnover } from "../../../shared/editor/panelTurnover.ts";
import type { PanelEvaluation } from "../../../shared/editor/runPanel.ts";
import {
  evaluationsQuery,
  rolloutsQuery,
  runsForecast,
  type EvaluationRow,
} from "../../../shared/protocol/protocol.ts";
import { leastValues } from "../../../shared/run/forecast.ts";
import type { CourseReport } from "../../../shared/run/forecastReport.ts";
import { passIntervals } from "../../../shared/run/passAtK.ts";
import { turnover } from "../../../shared/run/turnover.ts";
import type { Asker } from "../connection/asker.ts";

export interface RunEvaluations {
  readonly evaluations: readonly PanelEvaluation[];
  /** Absent: fewer than two of them say how each task went. */
  readonly turnover?: PanelTurnover;
  /** Of held-out pass@1; absent: there are too few evaluations that differ. */
  readonly forecast?: CourseReport;
}

export async function readEvaluations(source: Asker, run: string): Promise<RunEvaluations> {
  const { evaluations } = await source.ask(evaluationsQuery, { run, tasks: true });
  const [turned, forecast] = await Promise.all([
    readTurnover(source, run, evaluations),
    readForecast(source, run, evaluations),
  ]);
  return {
    evaluations: evaluations.map(shown),
    ...(turned && { turnover: turned }),
    ...(forecast && { forecast }),
  };
}

/** A daemon of an earlier version has none. */
async function readForecast(
  source: Asker,
  run: string,
  evaluations: readonly EvaluationRow[],
): Promise<CourseReport | undefined> {
  const steps = evaluations.map(({ step }) => step);
  const made = (steps.at(-1) ?? 0) - (steps[0] ?? 0);
  if (steps.length < leastValues || made === 0) return undefined;
  const asked = { runs: [run], metric: "eval/pass@1", more: Math.max(1, Math.round(made / 2)) };
  const answer = await source.ask(runsForecast, asked).catch(() => undefined);
  return answer?.forecasts[0] ?? undefined;
}

const shown = ({ results, ...row }: EvaluationRow): PanelEvaluation =>
  results === undefined
    ? row
    : { ...row, tasks: results.tasks.length, intervals: passIntervals(Object.keys(row.metrics), results) };

async function readTurnover(
  source: Asker,
  run: string,
  evaluations: readonly EvaluationRow[],
): Promise<PanelTurnover | undefined> {
  const known = evaluations.flatMap(({ step, results }) =>
    results === undefined ? [] : [{ step, results }],
  );
  const found = turnover(known);
  if (found === undefined) return undefined;
  const prompts =
    found.forgotten.length === 0 ? new Map<string, string>() : await keptPrompts(source, run, found.last);
  return panelTurnover(found, prompts);
}

/** Answers kept of an evaluation, at most. */
const mostKept = 2_000;

/** Each evaluation keeps the answers to the same tasks. */
async function keptPrompts(source: Asker, run: string, step: number): Promise<ReadonlyMap<string, string>> {
  const where = 'use == "evaluate"';
  const { rollouts } = await source.ask(rolloutsQuery, { run, step, where, limit: mostKept });
  return new Map(
    rollouts.flatMap(({ task, prompt = "" }): [string, string][] =>
      task?.id === undefined ? [] : [[task.id, prompt]],
    ),
  );
}
