/** Coverage over the rollouts of a run that is kept in memory: the newest steps, as many as time allows. */
import { setImmediate } from "node:timers/promises";
import type { RewardCoverage } from "../../../../shared/rollouts/coverage.ts";
import { selectRows } from "../../../core/rows/batch.ts";
import type { RunConfig } from "../../../core/config/runConfig.ts";
import type { RescoreOptions, RescoreSession } from "../../rescore/session.ts";
import { CoverageMeasure } from "./measure.ts";

/** Milliseconds, from the first answers on: a function may take long to load. */
const enough = 3_000;
/** Rollouts that are scored before the clock is looked at. */
const atATime = 128;

/**
 * @param steps those that have rollouts, ascending
 * @throws UserError where a function cannot be loaded, or none is one's own; the signal's reason when it is aborted
 */
export async function covered(
  session: RescoreSession,
  config: RunConfig,
  steps: readonly number[],
  { unsaved, signal }: RescoreOptions,
): Promise<RewardCoverage> {
  const began = performance.now();
  const { id, name, python } = session.run;
  const measure = new CoverageMeasure(config, { unsaved, python });
  let done = 0;
  let until = Number.POSITIVE_INFINITY;
  try {
    for (const step of steps.toReversed()) {
      if (performance.now() > until) break;
      const stored = await session.recordedStep(step);
      done += 1;
      const all = [...stored.rows.keys()];
      for (let from = 0; from < all.length && performance.now() <= until; from += atATime) {
        signal.throwIfAborted();
        const rows = all.slice(from, from + atATime);
        await measure.add(step, (tasks) => selectRows(stored.batch(tasks), rows), signal);
        until = Math.min(until, performance.now() + enough);
        // Another request may have come: its message is read between two batches.
        await setImmediate();
      }
    }
    return {
      run: id,
      name,
      from: steps.at(-done) ?? 0,
      to: steps.at(-1) ?? 0,
      steps: done,
      of: steps.length,
      rollouts: measure.rollouts,
      files: measure.files,
      notes: measure.notes,
      milliseconds: performance.now() - began,
    };
  } finally {
    await measure.close();
  }
}
