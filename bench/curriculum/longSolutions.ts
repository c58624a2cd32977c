/**
 * A simulated learner of long solutions: all tasks are of the highest level, and where a part of the solution is given
 * the rest is of a lower one. What is learned of the rest carries over to the whole as it does between levels.
 */
import { Algorithm, contextOf } from "../../server/algorithm/algorithm.ts";
import type { DrawnTask } from "../../server/algorithm/curriculum/draws.ts";
import { create } from "../../server/core/create.ts";
import type { StageBody } from "../../server/core/config/resolved.ts";
import type { HelpedRound, StartState } from "../../server/core/slots/guidance.ts";
import type { Random } from "../../server/lib/random.ts";
import type { Clock } from "../../server/core/basics.ts";
import type { Group } from "../../server/core/rollouts.ts";
import type { Tokenizer } from "../../server/core/policy.ts";
import { simulatedGroups } from "../../server/analysis/simulate/groups.ts";
import { simulatedSource } from "../../server/analysis/simulate/source.ts";
import { Progress, Student } from "./student.ts";

/** A solution is as many tokens as there are levels below the whole and one. */
const letters: Tokenizer = {
  size: 128,
  eos: 0,
  pad: 0,
  encode: (text) => Int32Array.from(text, (letter) => letter.charCodeAt(0)),
  decode: (tokens) => String.fromCharCode(...Array.from(tokens)),
};
const none = (): never => {
  throw new Error("a simulated start asks no model");
};

interface Tried extends DrawnTask {
  rewards: number[];
}

export class LongSolutions {
  private readonly algorithm: Algorithm;
  private readonly student: Student;
  private readonly start;
  private readonly trigger;
  private readonly amount;
  private readonly record: Progress;
  private readonly whole: number;
  private rollouts = 0;
  private steps = 0;

  constructor(
    private readonly body: StageBody,
    private readonly random: Random,
  ) {
    const context = contextOf(body, { random: random.fork("methods") });
    const plain = { ...body, kl: [], mask: [], reward: { ...body.reward, terms: [] } };
    this.algorithm = new Algorithm(plain, context);
    this.student = new Student(random.fork("world"));
    this.whole = this.student.learner.ability.length - 1;
    this.start = create(body.curriculum.start, context);
    this.trigger = create(body.guidance.trigger, context);
    this.amount = create(body.guidance.amount, context);
    this.record = new Progress(() => ({ whole: this.student.learner.success(this.whole) }));
  }

  async study(steps: number): Promise<Progress> {
    this.steps = steps;
    for (let step = 0; step < steps; step++) await this.step({ step, stageStep: step });
    return this.record;
  }

  private async step(clock: Clock): Promise<void> {
    this.rollouts = 0;
    const random = this.random.fork("step", clock.step);
    const begun = await this.begun(clock, random.fork("start"));
    const tried = begun.map((one, i) => this.tried(one, clock, random.fork("group", i)));
    const groups = simulatedGroups(
      this.algorithm,
      tried,
      tried.map(({ rewards }) => rewards),
      clock,
    );
    this.observe(groups, clock);
    this.student.train(groups);
    this.record.step(groups.length, groups, this.rollouts);
  }

  private begun(clock: Clock, random: Random): Promise<readonly StartState[]> {
    const tasks = Array.from({ length: this.body.rollout.prompts }, (_, i) => ({
      task: this.task(`task-${clock.step}-${i}`, this.whole),
      arm: simulatedSource,
      key: ["start", clock.step, i],
    }));
    return this.start.begin(tasks, {
      ...{ clock, random, tokenizer: letters, max_tokens: this.body.rollout.max_tokens },
      models: { names: [], get: none, perceptron: none },
      ...{ write: none, likelihood: none },
    });
  }

  private task(id: string, level: number): StartState["task"] {
    const solution = "x".repeat(this.whole + 1);
    return {
      id,
      source: simulatedSource,
      env: simulatedSource,
      prompt: id,
      solution,
      data: { level, extra: 0 },
    };
  }

  /** A task with so much of its solution before it. */
  private behind({ task, arm }: DrawnTask, share: number): DrawnTask {
    return { arm, task: this.task(task.id, Math.round((1 - share) * this.whole)) };
  }

  /** A group, written again with more and more help where the config's guidance says so. */
  private tried(begun: StartState, clock: Clock, random: Random): Tried {
    const plain = { task: begun.task, arm: begun.arm };
    let now = this.attempt(this.behind(plain, begun.help?.share ?? 0), clock, random.fork("plain"));
    const size = now.rewards.length;
    const success = Uint8Array.from(now.rewards);
    const members = this.trigger.members({ task: begun.task, size, success }, { clock, random });
    const earlier: HelpedRound[] = [];
    for (let round = 0; members.length > 0 && round < this.amount.rounds; round++) {
      const question = {
        task: begun.task,
        member: 0,
        members: members.length,
        round,
        earlier,
        clock,
        steps: this.steps,
        random,
        shared: random.fork("shared"),
      };
      const share = this.amount.share(question)?.share;
      if (share === undefined) break;
      now = this.attempt(this.behind(plain, share), clock, random.fork("help", round));
      const successes = now.rewards.reduce((sum, reward) => sum + reward, 0);
      earlier.push({ share, rollouts: size, successes });
    }
    return now;
  }

  private attempt(drawn: DrawnTask, clock: Clock, random: Random): Tried {
    const count = this.body.rollout.group;
    this.rollouts += count;
    return { ...drawn, rewards: this.student.attempt(drawn, count, random, clock) };
  }

  private observe(groups: readonly Group[], clock: Clock): void {
    const none = { tokens: new Int32Array(), entropy: new Float64Array(), prefilled: true };
    this.start.observe?.(
      groups.map((group) => ({
        ...group,
        rollouts: Array.from(group.rewards, (reward) => ({ ...none, success: reward >= 1 })),
      })),
      clock,
    );
  }
}
