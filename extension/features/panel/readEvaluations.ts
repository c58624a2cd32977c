/** A run's evaluations as its panel shows them: the tasks' outcomes stay here, what they allow to be said goes to the panel. */
import { panelTurnover, type PanelTurnover } from "../../../shared/editor/panelTurnover.ts";
import type { PanelEvaluation } from "../../../shared/editor/runPanel.ts";
import { evaluationsQuery, rolloutsQuery, type EvaluationRow } from "../../../shared/protocol/protocol.ts";
import { passIntervals } from "../../../shared/run/passAtK.ts";
import { turnover } from "../../../shared/run/turnover.ts";
import type { Asker } from "../connection/asker.ts";

export interface RunEvaluations {
  readonly evaluations: readonly PanelEvaluation[];
  /** Absent: fewer than two of them say how each task went. */
  readonly turnover?: PanelTurnover;
}

export async function readEvaluations(source: Asker, run: string): Promise<RunEvaluations> {
  const { evaluations } = await source.ask(evaluationsQuery, { run, tasks: true });
  const turned = await readTurnover(source, run, evaluations);
  return { evaluations: evaluations.map(shown), ...(turned && { turnover: turned }) };
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
