/** A simulated run: a config's curriculum and advantage, and a learner for a policy. */
import { UserError } from "../../../shared/lib/errors.ts";
import { Algorithm, contextOf } from "../../algorithm/algorithm.ts";
import { Curriculum } from "../../algorithm/curriculum/curriculum.ts";
import type { DrawnTask } from "../../algorithm/curriculum/draws.ts";
import type { StageBody } from "../../core/config/resolved.ts";
import { pastCurriculumOf, type PastCurriculum } from "../../methods/curriculum/pastCurriculum.ts";
import { Again, againParams } from "../../methods/curriculum/samplers/mixtures/again.ts";
import { worthFollowing } from "../../methods/curriculum/samplers/mixtures/replayedMixtures.ts";
import { Surrogate, surrogateParams } from "../../methods/curriculum/estimators/surrogate.ts";
import { randomStream, type Random } from "../../lib/random.ts";
import type { Clock } from "../../core/basics.ts";
import type { Group } from "../../core/rollouts.ts";
import type { Models, Perceptron } from "../../core/policy.ts";
import type { Estimator, Verdict } from "../../core/slots/curriculum.ts";
import type { Task } from "../../core/task.ts";
import { SimulatedAngles } from "./angles.ts";
import { outcomeOf, simulatedGroups } from "./groups.ts";
import { Learner, type World } from "./learner.ts";
import { SimulatedPerceptron } from "./perceptron.ts";
import { pilotsIn } from "./pilots.ts";
import type { Scenario } from "./scenarios.ts";
import { simulatedOf, sourcesFor } from "./source.ts";
import { Student } from "./student.ts";
import type { Choice } from "../../core/declaration.ts";

export interface SimulatedStep {
  /** Mean chance to solve a task of the levels that can be solved. */
  readonly score: number;
  /** Rollouts written so far, rejected ones included. */
  readonly rollouts: number;
  /** Share of the step's groups at each level. */
  readonly mix: readonly number[];
}

/** Learners whose runs one that follows past runs can choose from. */
const pastLearners = 2;

/** A stage's choices as rewards alone can play them: one reward a response, no token and no other model. */
function playable(body: StageBody): StageBody {
  return { ...body, kl: [], mask: [], reward: { ...body.reward, terms: [] } };
}

/** Who answers the tasks: a learner that changes with what it is trained on, or a record of one. */
export interface Answering {
  /** Rewards of so many attempts at a task. */
  attempt(drawn: DrawnTask, count: number, random: Random, clock: Clock): number[];
  /** The groups of a step that train. */
  train(groups: readonly Group[]): void;
}

/** What a step drew, and what came of it. */
export interface PlayedStep {
  readonly groups: readonly Group[];
  readonly verdicts: readonly Verdict[];
  /** Rollouts written in it, those of tries and of rejected groups included. */
  readonly rollouts: number;
}

/** A step of a run as `run/collect.ts` goes about it, with answers that cost nothing. */
export class Play {
  private readonly algorithm: Algorithm;
  private rollouts = 0;

  constructor(
    private readonly body: StageBody,
    private readonly curriculum: Curriculum,
    private readonly answering: Answering,
    private readonly random: Random,
  ) {
    this.algorithm = new Algorithm(playable(body), contextOf(body, { random: random.fork("algorithm") }));
  }

  async step(clock: Clock): Promise<PlayedStep> {
    const { curriculum } = this;
    this.rollouts = 0;
    this.probe(clock);
    const groups = await this.collect(clock);
    const verdicts = curriculum.verdicts(groups, this.body.rollout.prompts);
    this.answering.train(groups.filter((_, i) => verdicts[i]!.admitted));
    curriculum.observe(groups, verdicts, clock);
    await curriculum.learn(groups, clock);
    return { groups, verdicts, rollouts: this.rollouts };
  }

  private async collect(clock: Clock): Promise<Group[]> {
    const { curriculum } = this;
    const wanted = this.body.rollout.prompts;
    const taken = new Set<number>();
    const groups: Group[] = [];
    const state = { admitted: 0, drawn: 0, round: 0 };
    for (let ask = curriculum.asks(wanted, clock); ask > 0; ask = curriculum.more({ wanted, ...state })) {
      const random = this.random.fork("draw", clock.step, state.round);
      const drawn = await curriculum.draw(ask, random, clock, taken);
      if (drawn.length === 0) break;
      const more = this.attempt(this.screened(drawn, clock, state.round), clock, ["rollout", state.round]);
      groups.push(...more);
      state.drawn += drawn.length;
      state.admitted += more.filter((group) => curriculum.admit(group).admitted).length;
      state.round += 1;
    }
    return groups;
  }

  private attempt(
    tasks: readonly DrawnTask[],
    clock: Clock,
    key: readonly (string | number)[],
    samples?: number,
  ): Group[] {
    if (tasks.length === 0) return [];
    const answer = (drawn: DrawnTask, count: number, random: Random): readonly number[] => {
      this.rollouts += count;
      return this.answering.attempt(drawn, count, random, clock);
    };
    const rewards = tasks.map((drawn, i) => {
      const random = this.random.fork(...key, clock.step, i);
      const count = samples ?? drawn.rollouts ?? this.body.rollout.group;
      const first = answer(drawn, count, random);
      return samples === undefined
        ? this.grown(drawn, first, (n, lot) => answer(drawn, n, random.fork("more", lot)))
        : first;
    });
    return simulatedGroups(this.algorithm, tasks, rewards, clock);
  }

  /** A group's rewards with those of the lots that the budget adds. */
  private grown(
    drawn: DrawnTask,
    first: readonly number[],
    answer: (count: number, lot: number) => readonly number[],
  ): readonly number[] {
    const { growth } = this.curriculum;
    const { group: size } = this.body.rollout;
    let rewards = first;
    for (let lots = 1; growth !== undefined; lots++) {
      const more = growth(outcomeOf(drawn, rewards), { rollouts: rewards.length, lots, size });
      if (more <= 0) break;
      rewards = [...rewards, ...answer(more, lots)];
    }
    return rewards;
  }

  private probe(clock: Clock): void {
    const { curriculum } = this;
    for (
      let wish = curriculum.nextPilots(clock), n = 0;
      wish !== undefined;
      wish = curriculum.nextPilots(clock), n++
    ) {
      const tasks = curriculum.tasksOf(wish, n, clock);
      curriculum.observePilots(this.attempt(tasks, clock, ["probe", n], wish.samples), clock);
    }
  }

  private screened(drawn: readonly DrawnTask[], clock: Clock, round: number): readonly DrawnTask[] {
    const { screen } = this.curriculum.admission;
    if (screen === undefined) return drawn;
    const tried = this.attempt(drawn, clock, ["screen", round], screen.samples);
    return drawn.filter((_, i) => screen.admit(tried[i]!).admitted);
  }
}

function mixOf(groups: readonly Group[], levels: number): number[] {
  const mix = new Array<number>(levels).fill(0);
  for (const { task } of groups) mix[simulatedOf(task).level]! += 1 / groups.length;
  return mix;
}

/** Small networks for those that the config names; of language models there are none. */
function simulatedModels(random: Random): Models {
  const made = new Map<string, Perceptron>();
  return {
    names: [],
    get: (name) => {
      throw new UserError(`a simulation has no language model, but the curriculum asks ${name}`, {
        code: "simulation",
        action: "Use a `kind: mlp` of `models` instead: `estimator: { perceptron: <name> }`.",
      });
    },
    perceptron: (name) => {
      const one = made.get(name) ?? new SimulatedPerceptron(random.fork(name));
      made.set(name, one);
      return one;
    },
  };
}

/** A sampler that follows past runs follows those of simulated learners. */
function following(
  sampler: Choice<"sampler">,
  past: readonly PastCurriculum[],
): StageBody["curriculum"]["sampler"] {
  const { declaration } = sampler;
  if (declaration.name !== "again") return sampler;
  const read = past.map((one) => ({ past: one, file: one.run, line: 0 }));
  const create = (): Again => new Again(againParams.parse(sampler.params), () => read);
  return { ...sampler, declaration: { ...declaration, create } };
}

/** The curriculum as it can be tried: arms in its own box, pilots and past runs that are runs of its learner, angles by level. */
function tried(
  curriculum: StageBody["curriculum"],
  world: World,
  random: Random,
  past: readonly PastCurriculum[],
): StageBody["curriculum"] {
  const { arms, estimator } = curriculum;
  const { declaration } = estimator;
  const boxed: Choice<"arms"> =
    arms.declaration.name === "parameters" ? { ...arms, params: { ...arms.params, box: {} } } : arms;
  const rest = { ...curriculum, arms: boxed, sampler: following(curriculum.sampler, past) };
  const instead = (create: () => Estimator): StageBody["curriculum"] => ({
    ...rest,
    estimator: { ...estimator, declaration: { ...declaration, create } },
  });
  if (declaration.name === "angle_concentration") return instead(() => new SimulatedAngles());
  const options = declaration.name === "surrogate" ? surrogateParams.parse(estimator.params) : undefined;
  if (options === undefined) return rest;
  const pilots = pilotsIn(world, random.fork("pilots"));
  return instead(() => new Surrogate(() => pilots, options));
}

/** The curriculum of a config as a simulated world has it: its tasks, and models that are made up. */
export function simulatedCurriculum(
  body: StageBody,
  world: World,
  random: Random,
  past: readonly PastCurriculum[] = [],
): Curriculum {
  const models = simulatedModels(random.fork("models"));
  return new Curriculum(
    tried(body.curriculum, world, random, past),
    sourcesFor(body.curriculum, world.difficulty.length),
    contextOf(body, { random: random.fork("methods"), models }),
  );
}

/** Where the curriculum follows past runs: what as many steps of some learners, who had no run to follow, leave. */
async function pastRuns(
  body: StageBody,
  world: World,
  random: Random,
  steps: number,
  signal: AbortSignal | undefined,
): Promise<PastCurriculum[]> {
  const { declaration, params } = body.curriculum.sampler;
  const { from, least } = declaration.name === "again" ? againParams.parse(params) : { from: [], least: 0 };
  const past: PastCurriculum[] = [];
  while (from.length > 0 && past.length < pastLearners) {
    const stream = random.fork(past.length);
    const curriculum = simulatedCurriculum(body, world, stream);
    const play = new Play(body, curriculum, new Student(new Learner(world)), stream);
    for (let step = 0; step < steps; step++) {
      await play.step({ step, stageStep: step });
      if (step % 5 === 4) await new Promise((resolve) => setImmediate(resolve));
      signal?.throwIfAborted();
    }
    past.push(pastCurriculumOf(`learner ${past.length + 1}`, curriculum.events()));
  }
  return past.filter((one) => worthFollowing(one, least).length > 0);
}

/** A step of a simulation, for whoever wants more of it than its mix. */
export interface SeenStep extends PlayedStep {
  /** As in `SimulatedStep`. */
  readonly score: number;
  /** Chance with which the learner answered a task of the step right. */
  readonly chanceOf: (task: Task) => number;
}

/**
 * @param seed of all that chance decides; with the number of a learner, of this one alone
 * @param signal ends it before its time
 * @param see is told each step as it ends
 * @throws UserError where the curriculum asks a language model, which a simulation has not
 */
export async function simulate(
  body: StageBody,
  scenario: Scenario,
  seed: number | readonly [seed: number, learner: number],
  steps: number,
  signal?: AbortSignal,
  see?: (step: SeenStep) => void,
): Promise<SimulatedStep[]> {
  const [run, ...learnerOf] = typeof seed === "number" ? [seed] : seed;
  const random = randomStream(run, "simulation", scenario.name, ...learnerOf);
  const world = scenario.world(random.fork("world"));
  const levels = world.difficulty.length;
  const learner = new Learner(world);
  const past = await pastRuns(body, world, random.fork("past"), steps, signal);
  const curriculum = simulatedCurriculum(body, world, random, past);
  const student = new Student(learner);
  const play = new Play(body, curriculum, student, random);
  const done: SimulatedStep[] = [];
  for (let step = 0; step < steps; step++) {
    const played = await play.step({ step, stageStep: step });
    const { groups, rollouts } = played;
    // Whoever waits for something else of this process gets it.
    if (step % 5 === 4) await new Promise((resolve) => setImmediate(resolve));
    signal?.throwIfAborted();
    const score = learner.score();
    if (!Number.isFinite(score))
      throw new UserError(`the simulated learner's score is ${score} at step ${step}`, {
        code: "simulation",
        action: "Choose a baseline and a scale whose advantages are finite and need only rewards.",
      });
    see?.({ ...played, score, chanceOf: (task) => student.chanceOf(task) });
    done.push({ score, rollouts: (done.at(-1)?.rollouts ?? 0) + rollouts, mix: mixOf(groups, levels) });
  }
  return done;
}
