/** What baselines that remember earlier steps know at a recorded step: they get the steps before it. */
import type { Algorithm } from "../../algorithm/algorithm.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import { stepsOf } from "./explain.ts";
import type { RecordedRow } from "../recorded.ts";
import { RecordedStep } from "./recordedStep.ts";

export type Remember = (algorithm: Algorithm) => void;

/** @param present a row of the step; earlier are the steps of its run whose rows come before, as in `gradus explain` */
export function memoryBefore(
  config: RunConfig,
  rows: readonly RecordedRow[],
  present: RecordedRow,
): Remember {
  let earlier: readonly RecordedStep[] | undefined;
  const steps = (): readonly RecordedStep[] => {
    const all = stepsOf(
      rows.filter(({ row }) => (row.run ?? "") === (present.row.run ?? "")),
      false,
    );
    const at = all.findIndex(({ train }) => train[0]!.row.step === present.row.step);
    return all.slice(0, Math.max(0, at)).map(({ train }) => new RecordedStep(config, train));
  };
  return (algorithm) => {
    if (!remembers(algorithm)) return;
    for (const step of (earlier ??= steps()))
      algorithm.observe(algorithm.rewards(step.terms(), step.batch, step.clock).combined, step.batch);
  };
}

/** Whether its baseline carries something from step to step. */
export function remembers(algorithm: Algorithm): boolean {
  const { json } = algorithm.save();
  return typeof json === "object" && json !== null && "advantage" in json && json["advantage"] !== null;
}
