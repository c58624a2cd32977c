/** `gradus reward FILE --rollouts … --coverage`: which lines of one's own reward functions recorded rollouts reach. */
import { existsSync } from "node:fs";
import { CoverageMeasure } from "../../analysis/rewardChecks/covered/measure.ts";
import { batchWithData } from "../../analysis/imported/withData.ts";
import { batchOfRows, type RecordedRow } from "../../analysis/recorded.ts";
import { withResponse } from "../../analysis/rescore/rescore.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import { readPython } from "../../lib/notebook/notebook.ts";
import type { RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import { complain, exit, print, printJson } from "../command.ts";
import { visibleText } from "../../../shared/lib/visibleText.ts";
import { withRollouts, type RolloutsOptions } from "../rolloutsOf.ts";
import { coverageText, missedLines } from "./coverageText.ts";

const textOf = (file: string): readonly string[] => (existsSync(file) ? readPython(file).split(/\r?\n/) : []);

export async function printCoverage(
  config: RunConfig,
  rollouts: string,
  options: RolloutsOptions,
  json: boolean,
): Promise<void> {
  const measure = new CoverageMeasure(config, {});
  try {
    await withRollouts(rollouts, config, options, async (rows) => {
      for (const [step, own] of stepsOf(rows))
        await measure.add(step, (tasks) => batchWithData(batchOfRows(own, tasks), tasks));
    });
    for (const file of measure.files) {
      if (json) printJson({ type: "coverage", ...file });
      else for (const line of [coverageText(file), ...missedLines(file, textOf(file.file))]) print(line);
    }
    const { notes } = measure;
    if (json)
      printJson({ type: "coverage-summary", rollouts: measure.rollouts, files: measure.files.length, notes });
    else for (const note of notes) complain(visibleText(note));
    if (measure.failsOnAll) process.exitCode = exit.failed;
  } finally {
    await measure.close();
  }
}

/** The rollouts of each step: a file may hold several. */
function stepsOf(rows: readonly RecordedRow[]): Map<number, RolloutRow[]> {
  const steps = new Map<number, RolloutRow[]>();
  for (const recorded of rows) {
    const row = withResponse(recorded);
    const known = steps.get(row.step);
    if (known === undefined) steps.set(row.step, [row]);
    else known.push(row);
  }
  return steps;
}
