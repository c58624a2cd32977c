/** What the models of two recorded evaluations can do, and where their runs are going. Pure but for its session. */
import type { PanelForecasts, ToCompare, WantedEvaluation } from "../../../shared/editor/comparePanel.ts";
import { messageOf } from "../../../shared/lib/errors.ts";
import { runsBoundary, runsForecast } from "../../../shared/protocol/protocol.ts";
import type { Asker } from "../connection/asker.ts";

type Answer = Omit<Extract<ToCompare, { type: "boundary" }>, "version">;

export async function readBoundary(
  source: Asker,
  own: WantedEvaluation,
  other: WantedEvaluation,
): Promise<Answer> {
  const [report, forecasts] = await Promise.all([
    source.ask(runsBoundary, { own, other }).catch((error: unknown) => messageOf(error)),
    own.run === other.run ? undefined : readForecasts(source, [other.run, own.run]),
  ]);
  return {
    type: "boundary",
    ...(typeof report === "string" ? { report: null, reason: report } : { report }),
    ...(forecasts && { forecasts }),
  };
}

/** Of held-out pass@1 where both have enough evaluations, else of the reward. */
async function readForecasts(source: Asker, runs: readonly string[]): Promise<PanelForecasts | undefined> {
  for (const metric of ["eval/pass@1", "reward/total"]) {
    const found = await source.ask(runsForecast, { runs: [...runs], metric }).catch(() => undefined);
    if (found?.forecasts.every((one) => one !== null) === true) return found;
  }
  return undefined;
}
