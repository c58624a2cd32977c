/** What simulated runs of a config's curriculum did, step by step, for tests to look at. */
import { describeGroups } from "../../algorithm/advantages/describe.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import { uniformly } from "../simulate/compare.ts";
import { scenarios, startingAt, type Scenario } from "../simulate/scenarios.ts";
import { simulate, type SeenStep } from "../simulate/simulate.ts";
import { simulatedOf } from "../simulate/source.ts";
import { simulatedStage } from "../simulate/stage.ts";
import type { SimulatedMetric, WrittenTest } from "./format.ts";

/** A group that was drawn. */
export interface Draw {
  /** From 1. */
  readonly level: number;
  /** The learner's to solve its task. */
  readonly chance: number;
}

export interface TracedStep {
  readonly metrics: Readonly<Partial<Record<SimulatedMetric, number>>>;
  readonly draws: readonly Draw[];
}

function traced({ groups, verdicts, rollouts, score, chanceOf }: SeenStep): TracedStep {
  return {
    metrics: {
      // Without responses: here they are all empty, and what they have in common says nothing.
      ...describeGroups(groups.map(({ answers: _, ...group }) => group)),
      "groups/admitted": verdicts.filter(({ admitted }) => admitted).length,
      "groups/drawn": groups.length,
      "rollout/count": rollouts,
      "eval/pass@1": score,
    },
    draws: groups.map(({ task }) => ({ level: simulatedOf(task).level + 1, chance: chanceOf(task) })),
  };
}

function scenarioOf({ scenario, success }: NonNullable<WrittenTest["learner"]>): Scenario {
  const [ladder] = scenarios;
  const one = scenarios.find(({ name }) => name === scenario) ?? ladder!;
  return success === undefined ? one : startingAt(one, success);
}

/** Simulations of one config: tests about the same learner look at the same one. */
export class Traces {
  private readonly known = new Map<string, Promise<readonly TracedStep[]>>();
  private readonly stage: ReturnType<typeof simulatedStage>;

  /** @throws UserError where the config has no curriculum to simulate */
  constructor(
    config: Pick<RunConfig, "stages">,
    private readonly signal?: AbortSignal,
  ) {
    this.stage = simulatedStage(config);
  }

  /** Steps of a test that does not say how many. */
  get steps(): number {
    return this.stage.steps;
  }

  /** The first learner of those that `gradus curriculum FILE --simulate` has of the seed. */
  of(
    learner: WrittenTest["learner"] = {},
    { seed, steps, uniform }: { readonly seed: number; readonly steps: number; readonly uniform: boolean },
  ): Promise<readonly TracedStep[]> {
    const key = JSON.stringify([learner.scenario, learner.success, seed, steps, uniform]);
    const known = this.known.get(key) ?? this.simulated(scenarioOf(learner), seed, steps, uniform);
    this.known.set(key, known);
    return known;
  }

  private async simulated(
    scenario: Scenario,
    seed: number,
    steps: number,
    uniform: boolean,
  ): Promise<readonly TracedStep[]> {
    const { body } = this.stage.stage;
    const done: TracedStep[] = [];
    await simulate(uniform ? uniformly(body) : body, scenario, [seed, 0], steps, this.signal, (step) =>
      done.push(traced(step)),
    );
    return done;
  }
}
