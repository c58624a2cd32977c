/** A config's curriculum compared with uniform sampling, in simulated worlds. */
import type { StageBody } from "../../core/config/resolved.ts";
import type { SlotName, Choice } from "../../core/declaration.ts";
import { methodOf } from "../../methods/index.ts";
import { randomStream } from "../../lib/random.ts";
import type { Scenario } from "./scenarios.ts";
import { simulate, type SimulatedStep } from "./simulate.ts";
import { signFlipTest, standardError } from "./statistics.ts";
import { mean } from "../../../shared/lib/mean.ts";

export interface Spread {
  readonly mean: number;
  /**
   * Standard error over the learners; null of one. They differ in what they are asked and what they answer by chance, and
   * where a scenario draws its world also in that: it says nothing of other worlds or of models.
   */
  readonly error: number | null;
}

export interface Comparison {
  readonly scenario: string;
  readonly seeds: number;
  readonly steps: number;
  /** Mean chance to solve, after all steps. */
  readonly final: { readonly own: Spread; readonly uniform: Spread };
  /** The same after as many rollouts as the thriftier of the two wrote in all. */
  readonly equal: { readonly own: Spread; readonly uniform: Spread; readonly rollouts: number };
  /** Of the differences between the seeds' pairs, after all steps and at equal rollouts. */
  readonly p: { readonly final: number; readonly equal: number };
  /** Rollouts of uniform sampling over those that the curriculum needs to reach what it reaches; null: it never does. */
  readonly efficiency: number | null;
  /** Share of each level, step by step, mean over the seeds. */
  readonly mix: readonly (readonly number[])[];
}

const spreadOf = (values: readonly number[]): Spread => ({
  mean: mean(values),
  error: values.length < 2 ? null : standardError(values),
});

/** The same run without a curriculum: arms alike, or points anywhere in their box; every group trains. */
export function uniformly(body: StageBody): StageBody {
  const { curriculum } = body;
  return {
    ...body,
    curriculum: {
      ...curriculum,
      ...(curriculum.arms.declaration.name === "parameters"
        ? { arms: plain("arms", "none", curriculum.arms) }
        : {}),
      sampler: plain("sampler", "uniform", curriculum.sampler),
      admission: plain("admission", "none", curriculum.admission),
      refill: plain("refill", "none", curriculum.refill),
      budget: plain("budget", "fixed", curriculum.budget),
      estimator: plain("estimator", "last", curriculum.estimator),
    },
  };
}

function plain<Slot extends SlotName>(slot: Slot, use: string, choice: Choice<Slot>): Choice<Slot> {
  const declaration = methodOf(slot, use) ?? choice.declaration;
  return { ...choice, use, declaration, params: declaration.params.parse({}) };
}

/** Rollouts after which a curve first reaches a score, between its points by a straight line; undefined: never. */
function rolloutsTo(score: number, steps: readonly SimulatedStep[]): number | undefined {
  const at = steps.findIndex((step) => step.score >= score);
  if (at <= 0) return steps[at]?.rollouts;
  const [before, after] = [steps[at - 1]!, steps[at]!];
  const share = (score - before.score) / (after.score - before.score);
  return before.rollouts + share * (after.rollouts - before.rollouts);
}

/** The score after so many rollouts. */
const scoreAfter = (rollouts: number, steps: readonly SimulatedStep[]): number =>
  (steps.findLast((step) => step.rollouts <= rollouts) ?? steps[0]!).score;

export async function compare(
  body: StageBody,
  scenario: Scenario,
  { seeds, steps, seed }: { readonly seeds: number; readonly steps: number; readonly seed: number },
): Promise<Comparison> {
  const own: SimulatedStep[][] = [];
  const uniform: SimulatedStep[][] = [];
  // By both numbers: the learners of another seed are others, all of them.
  for (let one = 0; one < seeds; one++) {
    own.push(await simulate(body, scenario, [seed, one], steps));
    uniform.push(await simulate(uniformly(body), scenario, [seed, one], steps));
  }
  const last = (runs: readonly SimulatedStep[][]): SimulatedStep[] => runs.map((run) => run.at(-1)!);
  const rollouts = Math.min(...[...last(own), ...last(uniform)].map((step) => step.rollouts));
  const equal = [own, uniform].map((runs) => runs.map((run) => scoreAfter(rollouts, run)));
  const needed = own.map((run, i) => rolloutsTo(uniform[i]!.at(-1)!.score, run));
  const pOf = (a: readonly number[], b: readonly number[]): number =>
    signFlipTest(
      a.map((score, i) => score - b[i]!),
      randomStream(seed, "p", scenario.name),
    );
  const reached = needed.flatMap((of, i) => (of === undefined ? [] : [uniform[i]!.at(-1)!.rollouts / of]));
  return {
    scenario: scenario.name,
    seeds,
    steps,
    final: { own: spreadOf(last(own).map(scoreOf)), uniform: spreadOf(last(uniform).map(scoreOf)) },
    equal: { own: spreadOf(equal[0]!), uniform: spreadOf(equal[1]!), rollouts },
    p: {
      final: pOf(last(own).map(scoreOf), last(uniform).map(scoreOf)),
      equal: pOf(equal[0]!, equal[1]!),
    },
    efficiency: reached.length < seeds ? null : mean(reached),
    mix: meanMix(own),
  };
}

const scoreOf = ({ score }: SimulatedStep): number => score;

const meanMix = (runs: readonly SimulatedStep[][]): number[][] =>
  runs[0]!.map(({ mix }, step) => mix.map((_, level) => mean(runs.map((run) => run[step]!.mix[level]!))));
