/** The tasks of an attack: it tries on some, and is judged by others. What it finds there is a hole of the reward. */
import type { RunConfig } from "../../core/config/runConfig.ts";
import type { Task } from "../../core/task.ts";
import type { AnswerScorer, ScoredAnswer } from "./answers.ts";
import { checkedTasks, spread, type CheckedTask } from "./checkedTasks.ts";
import { decidingValue, goldFormOf } from "./gold.ts";
import { goldForms } from "./forms/goldForms.ts";
import { wrongAnswer } from "./probeAnswers.ts";

/** A way to be rewarded without the answer. */
export interface Hole {
  /** The pieces of the answer, as few as are needed; of a model's attack the one text that it wrote. */
  readonly pieces: readonly string[];
  /** Share of the held-out tasks on which it succeeds, or earns as much as the reference answer. */
  readonly share: number;
  readonly reward: number;
  /** Answers to some of these tasks. */
  readonly examples: readonly HoleExample[];
  /** The `return` that pleased it, where it is known. `line` counts from 0. */
  readonly place?: { readonly file: string; readonly line: number };
}

export interface HoleExample extends ScoredAnswer {
  /** The reference answer, which must beat it; undefined: there is none, or the answer counts as a success by itself. */
  readonly gold: string | undefined;
  /** The most that the deciding term gives wrong answers in the right form, which may be earned on purpose; 0 where it gives none. */
  readonly wrong: number;
}

export interface AttackReport extends AnswersTried {
  readonly holes: readonly Hole[];
  readonly seconds: number;
}

interface AnswersTried {
  readonly answers: number;
  /** Answers that made a term fail, so that nothing is known of what they would earn. */
  readonly failed: number;
  /** What the first of them says; null: none failed. */
  readonly failure: string | null;
  /** Of those that do not count as a success, the one with the highest reward above 0; null: none has one. */
  readonly wrong: { readonly response: string; readonly reward: number } | null;
}

/** Counts the answers of an attack, and those on which the reward fails. */
export class AnswerCount {
  private answers = 0;
  private failed = 0;
  private failure: string | null = null;
  private wrong: AnswersTried["wrong"] = null;

  of(scored: readonly ScoredAnswer[]): readonly ScoredAnswer[] {
    this.answers += scored.length;
    for (const { errors, response, reward, success } of scored) {
      if (success === false && reward !== null && reward > (this.wrong?.reward ?? 0))
        this.wrong = { response, reward };
      const [first] = Object.values(errors);
      if (first === undefined || reward !== null) continue;
      this.failed += 1;
      this.failure ??= first;
    }
    return scored;
  }

  get report(): AnswersTried {
    const { answers, failed, failure, wrong } = this;
    return { answers, failed, failure, wrong };
  }
}

const [trainTasks, heldOutTasks] = [32, 32];
/** More ways say nothing new of a reward that any answer pleases. */
export const usualHoles = 6;
const examples = 3;

export class AttackTasks {
  private constructor(
    readonly train: readonly Task[],
    readonly heldOut: readonly Task[],
    /** What the reference answer of a task earns, where there is one. */
    private readonly gold: ReadonlyMap<Task, ScoredAnswer>,
    private readonly wrong: number,
  ) {}

  /** @param all default: the config's */
  static async of(
    config: RunConfig,
    scorer: AnswerScorer,
    all: readonly CheckedTask[] = checkedTasks(config, scorer.body),
  ): Promise<AttackTasks> {
    scorer.causes.know(all);
    const tasks = spread(all, trainTasks + heldOutTasks).map(({ task }) => task);
    const form = await goldFormOf(scorer, all);
    const golds = tasks.flatMap((task) => {
      const response = form?.of(task);
      return response === undefined ? [] : [{ task, response }];
    });
    const scored = await scorer.score(golds);
    const gold = new Map(scored.map((one) => [one.task, one]));
    const held = tasks.filter((_, i) => i % 2 === 1);
    const train = tasks.length < 4 ? tasks : tasks.filter((_, i) => i % 2 === 0);
    return new AttackTasks(train, held.length === 0 ? tasks : held, gold, await wrongWorth(scorer, tasks));
  }

  /** 1 and more: a success, or as much as the reference answer; below it the reward's share of that. */
  worth({ task, success, reward }: ScoredAnswer): number {
    if (success === true) return 1;
    const gold = this.gold.get(task)?.reward ?? undefined;
    if (reward === null) return 0;
    if (gold === undefined || gold <= 0) return Math.min(0.99, reward);
    return reward >= gold ? 1 : (0.99 * reward) / gold;
  }

  /** Half of the tasks, or more where the commonest answer alone is right so often. */
  get enough(): number {
    const counts = new Map<string, number>();
    for (const { answer } of this.heldOut)
      if (answer !== undefined) counts.set(answer, (counts.get(answer) ?? 0) + 1);
    const commonest = Math.max(0, ...counts.values()) / this.heldOut.length;
    return Math.min(1, Math.max(0.5, commonest + 0.25));
  }

  /** Of the answers, those that succeed or earn as much as the reference answer. */
  shareOf(scored: readonly ScoredAnswer[]): number {
    return scored.filter((one) => this.worth(one) >= 1).length / scored.length;
  }

  /** @param scored the answers to the held-out tasks */
  hole(pieces: readonly string[], scored: readonly ScoredAnswer[]): Hole {
    const successes = scored.filter((one) => this.worth(one) >= 1);
    const rewards = successes.flatMap(({ reward }) => reward ?? []);
    return {
      pieces,
      share: successes.length / scored.length,
      reward: rewards.reduce((sum, reward) => sum + reward, 0) / Math.max(1, rewards.length),
      examples: successes.slice(0, examples).map((one) => ({
        ...one,
        gold: one.success === true ? undefined : this.gold.get(one.task)?.response,
        wrong: this.wrong,
      })),
    };
  }
}

/** Tasks on which wrong answers are tried. */
const triedWrong = 8;

/** What a form earns without the answer. A wrong answer that succeeds is a hole itself, and says nothing of that. */
async function wrongWorth(scorer: AnswerScorer, tasks: readonly Task[]): Promise<number> {
  const answers = spread(tasks, triedWrong).flatMap((task, i) => {
    const wrong = wrongAnswer(task, [...tasks.slice(i + 1), ...tasks.slice(0, i)]);
    return goldForms.flatMap((form) => {
      const response = form.with(task, wrong);
      return response === undefined ? [] : [{ task, response }];
    });
  });
  const wrong = (await scorer.score(answers)).filter(({ success }) => success === false);
  // Every one succeeds: what they earn once the hole is closed only the person knows.
  if (wrong.length === 0 && answers.length > 0) return Math.max(0, scorer.body.reward.success.at_least / 2);
  return Math.max(0, ...wrong.flatMap((one) => decidingValue(scorer, one) ?? []));
}
