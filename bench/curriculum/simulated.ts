/** One side, one seed, against a simulated learner: the ladder of server/analysis/simulate/scenarios.ts. */
import { version } from "../../package.json";
import { contextOf } from "../../server/algorithm/algorithm.ts";
import { Curriculum } from "../../server/algorithm/curriculum/curriculum.ts";
import type { StageBody } from "../../server/core/config/resolved.ts";
import { randomStream, type Random } from "../../server/lib/random.ts";
import { Play } from "../../server/analysis/simulate/simulate.ts";
import { sourcesFor } from "../../server/analysis/simulate/source.ts";
import { machine } from "./machine.ts";
import { LongSolutions } from "./longSolutions.ts";
import type { Result } from "./result.ts";
import { configOfSide, sideFingerprint } from "./settings.ts";
import { every, Progress, Student } from "./student.ts";

export const simulatedSteps = 80;

interface Simulation {
  /** What a simulation must choose otherwise, as `--set`. */
  readonly set?: readonly string[];
  /** Each stage's share of the steps, and the levels whose tasks it has; default: one stage with all levels. */
  readonly stages?: readonly { readonly share: number; readonly levels?: readonly string[] }[];
  /** Tasks of the highest level alone, of whose solutions parts may be given. */
  readonly longSolutions?: true;
}

/** Here arms are levels; a simulated task has no text that a model could guess from. */
const simulations: Readonly<Record<string, Simulation>> = {
  dump: { set: ["curriculum.arms=difficulty"] },
  pcl: { set: ["curriculum.arms=difficulty", "curriculum.estimator={ use: ema, alpha: 0.5 }"] },
  pool: { set: ["curriculum.arms={ use: prompt, pool: 2000 }"] },
  gain: {
    set: [
      ["arms", "{ use: prompt, pool: 2000 }"],
      ["estimator", "{ use: static, by: field, field: level }"],
      ["sampler.order", "ascending"],
      ["sampler.by_value", "0"],
      ["sampler.step", "50"],
    ].map(([key, value]) => `stages.practice.curriculum.${key}=${value}`),
  },
  drive: {
    // As many rollouts in both: a step of the second has twice as many.
    stages: [{ share: 0.5 }, { share: 0.25, levels: ["6", "7"] }],
  },
  hard: { longSolutions: true },
  ghpo: { longSolutions: true },
  reverseStarts: { longSolutions: true },
};
const simulationOf = (side: string): Simulation => simulations[side] ?? {};

export const simulatedFingerprint = (side: string): string =>
  sideFingerprint(side, [simulationOf(side), simulatedSteps, every]);

async function climb(
  side: string,
  bodies: readonly StageBody[],
  random: Random,
  all: number,
): Promise<Progress> {
  const student = new Student(random.fork("world"));
  const levels = student.learner.ability.length;
  const record = new Progress(() =>
    Object.fromEntries(Array.from({ length: levels }, (_, i) => [String(i + 1), student.learner.success(i)])),
  );
  const parts = simulationOf(side).stages ?? [{ share: 1 }];
  let step = 0;
  for (const [number, { share, levels: only }] of parts.entries()) {
    const body = bodies[number]!;
    const outside = contextOf(body, { random: random.fork("methods", number) });
    const own = only?.map((level) => Number(level) - 1);
    const sources = sourcesFor(body.curriculum, student.learner.ability.length, own);
    const play = new Play(body, new Curriculum(body.curriculum, sources, outside), student, random);
    for (let stageStep = 0; stageStep < share * all; stageStep++, step++) {
      const { groups, verdicts, rollouts } = await play.step({ step, stageStep });
      record.step(
        groups.length,
        groups.filter((_, i) => verdicts[i]!.admitted),
        rollouts,
      );
    }
  }
  return record;
}

export async function simulatedRun(side: string, seed: number, steps = simulatedSteps): Promise<Result> {
  const began = performance.now();
  const { set = [], longSolutions } = simulationOf(side);
  const bodies = configOfSide(side, set).stages.map(({ body }) => body);
  // The same for both sides of a claim: what chance decides alike makes no difference.
  const random = randomStream(seed, "simulated");
  const { points, groups } =
    longSolutions === true
      ? await new LongSolutions(bodies[0]!, random).study(steps)
      : await climb(side, bodies, random, steps);
  return {
    ...{ kind: "simulated", side, seed, fingerprint: simulatedFingerprint(side) },
    ...{ date: new Date().toISOString().slice(0, 10), machine: machine(), version },
    ...{ seconds: Math.round((performance.now() - began) / 10) / 100, groups, points },
  };
}
