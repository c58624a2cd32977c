/** Tests of a curriculum, run on simulated learners. */
import type { RunConfig } from "../../core/config/runConfig.ts";
import type { Position } from "../../lib/lines.ts";
import { shortfallOf, type Shortfall } from "./shortfall.ts";
import type { CurriculumTest, CurriculumTests } from "./read.ts";
import { Traces } from "./traces.ts";

export interface CurriculumFailure extends Shortfall {
  readonly seed: number;
  /** Of the expectation. */
  readonly place: Position;
}

export interface CurriculumTestResult {
  readonly name: string;
  readonly place: Position;
  readonly steps: number;
  readonly seeds: readonly number[];
  /** Of each expectation, by the first seed that does not meet it; none: the test passed. */
  readonly failures: readonly CurriculumFailure[];
}

/** @throws UserError where the curriculum cannot be simulated */
export async function runCurriculumTests(
  { tests, seeds }: Pick<CurriculumTests, "tests" | "seeds">,
  config: Pick<RunConfig, "stages" | "seed">,
  signal?: AbortSignal,
): Promise<CurriculumTestResult[]> {
  const traces = new Traces(config, signal);
  const results: CurriculumTestResult[] = [];
  for (const test of tests) results.push(await runTest(test, seeds ?? [config.seed], traces));
  return results;
}

async function runTest(
  { name, place, learner, steps: wanted, expect }: CurriculumTest,
  seeds: readonly number[],
  traces: Traces,
): Promise<CurriculumTestResult> {
  const steps = wanted ?? traces.steps;
  const failures = new Map<Position, CurriculumFailure>();
  for (const seed of seeds) {
    const own = await traces.of(learner, { seed, steps, uniform: false });
    for (const one of expect) {
      if (failures.has(one.place)) continue;
      const uniform =
        one.expect.beats === undefined ? undefined : await traces.of(learner, { seed, steps, uniform: true });
      const found = shortfallOf(one.expect, own, uniform);
      if (found === undefined) continue;
      const message = seeds.length === 1 ? found.message : `with seed ${seed}, ${found.message}`;
      failures.set(one.place, { ...found, message, seed, place: one.place });
    }
  }
  const order = [...failures.values()].sort((a, b) => a.place.line - b.place.line);
  return { name, place, steps, seeds, failures: order };
}
