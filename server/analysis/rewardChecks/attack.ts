/**
 * A policy that is trained to please the reward without ever seeing a reference answer. What it finds to succeed on tasks
 * that it did not train on is a hole of the reward, not a skill.
 */
import type { RunConfig } from "../../core/config/runConfig.ts";
import type { Task } from "../../core/task.ts";
import { randomStream } from "../../lib/random.ts";
import type { AnswerScorer, ScoredAnswer } from "./answers.ts";
import { checkedTasks, spread } from "./checkedTasks.ts";
import { goldFormOf } from "./gold.ts";
import { PiecePolicy, type Sequence } from "./piecePolicy.ts";
import { piecesFor, written, type Piece } from "./pieces.ts";

/** A way to be rewarded without the answer. */
export interface Hole {
  /** The pieces of the answer, as few as are needed. */
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
}

export interface AttackReport {
  readonly holes: readonly Hole[];
  readonly answers: number;
  readonly seconds: number;
}

interface AttackOptions {
  /** For all of it. */
  readonly seconds: number;
  /** Ends after so many. */
  readonly holes?: number;
}

const [trainTasks, heldOutTasks] = [32, 32];
const perBatch = 64;
/** Steps of a policy; twice as many after each that found nothing new. */
const firstSteps = 40;
const mostEmpty = 3;
/** More ways say nothing new of a reward that any answer pleases. */
const usualHoles = 6;
const examples = 3;

export async function attackReward(
  config: RunConfig,
  scorer: AnswerScorer,
  { seconds, holes: most = usualHoles }: AttackOptions,
): Promise<AttackReport> {
  const attack = await Attack.of(config, scorer);
  const began = performance.now();
  const over = (): boolean => performance.now() - began > seconds * 1000;
  const holes: Hole[] = [];
  const banned = new Set<number>();
  for (let round = 0, empty = 0; !over() && empty < mostEmpty && holes.length < most; round++) {
    const found = await attack.round(round, { banned, steps: firstSteps * 2 ** empty, over });
    const isNew =
      found !== undefined && !holes.some(({ pieces }) => String(pieces) === String(found.hole.pieces));
    if (!isNew) empty += 1;
    else {
      holes.push(found.hole);
      for (const piece of found.decisive) banned.add(piece);
    }
  }
  return { holes, answers: attack.answers, seconds: (performance.now() - began) / 1000 };
}

interface Round {
  /** Pieces that earlier holes needed. */
  readonly banned: ReadonlySet<number>;
  readonly steps: number;
  readonly over: () => boolean;
}

class Attack {
  answers = 0;

  private constructor(
    private readonly scorer: AnswerScorer,
    private readonly seed: number,
    private readonly pieces: readonly Piece[],
    private readonly train: readonly Task[],
    private readonly heldOut: readonly Task[],
    /** What the reference answer of a task earns, where there is one. */
    private readonly gold: ReadonlyMap<Task, ScoredAnswer>,
  ) {}

  static async of(config: RunConfig, scorer: AnswerScorer): Promise<Attack> {
    const all = checkedTasks(config, scorer.body);
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
    return new Attack(
      scorer,
      config.seed,
      piecesFor(scorer.body),
      train,
      held.length === 0 ? tasks : held,
      gold,
    );
  }

  /** Trains one policy from the beginning; undefined: it found no hole. */
  async round(
    round: number,
    { banned, steps, over }: Round,
  ): Promise<{ readonly hole: Hole; readonly decisive: Sequence } | undefined> {
    const random = randomStream(this.seed, "attack", round);
    const policy = new PiecePolicy(this.pieces.length, random, banned);
    const tried = new Map<string, { readonly sequence: Sequence; best: number }>();
    for (let step = 0; step < steps && !over(); step++) {
      const sequences = Array.from({ length: perBatch }, () => policy.write());
      const tasks = sequences.map(() => this.train[Math.floor(random.next() * this.train.length)]!);
      const scored = await this.score(sequences.map((sequence, i) => [sequence, tasks[i]!]));
      const rewards = scored.map((one) => this.worth(one));
      policy.learn(sequences, rewards);
      sequences.forEach((sequence, i) => {
        const key = sequence.join(" ");
        const known = tried.get(key);
        if (known === undefined) tried.set(key, { sequence, best: rewards[i]! });
        else known.best = Math.max(known.best, rewards[i]!);
      });
      const best = [...tried.values()].sort(
        (a, b) => b.best - a.best || a.sequence.length - b.sequence.length,
      );
      for (const { sequence, best: worth } of best.slice(0, 2)) {
        if (worth < 1) break;
        if ((await this.shareOf(sequence)) >= this.enough) return this.hole(await this.shortened(sequence));
        // It succeeded by luck on the task it met.
        tried.get(sequence.join(" "))!.best = 0;
      }
    }
    return undefined;
  }

  /** 1 and more: a success, or as much as the reference answer; below it the reward's share of that. */
  private worth({ task, success, reward }: ScoredAnswer): number {
    if (success === true) return 1;
    const gold = this.gold.get(task)?.reward ?? undefined;
    if (reward === null) return 0;
    if (gold === undefined || gold <= 0) return Math.min(0.99, reward);
    return reward >= gold ? 1 : (0.99 * reward) / gold;
  }

  /** Half of the tasks, or more where the commonest answer alone is right so often. */
  private get enough(): number {
    const counts = new Map<string, number>();
    for (const { answer } of this.heldOut)
      if (answer !== undefined) counts.set(answer, (counts.get(answer) ?? 0) + 1);
    const commonest = Math.max(0, ...counts.values()) / this.heldOut.length;
    return Math.min(1, Math.max(0.5, commonest + 0.25));
  }

  private async shareOf(sequence: Sequence): Promise<number> {
    const scored = await this.score(this.heldOut.map((task) => [sequence, task]));
    return scored.filter((one) => this.worth(one) >= 1).length / scored.length;
  }

  /** Pieces that are not needed are left out. */
  private async shortened(sequence: Sequence): Promise<Sequence> {
    for (let i = 0; i < sequence.length; i++) {
      const shorter = sequence.filter((_, at) => at !== i);
      if ((await this.shareOf(shorter)) >= this.enough) return this.shortened(shorter);
    }
    return sequence;
  }

  private async hole(sequence: Sequence): Promise<{ readonly hole: Hole; readonly decisive: Sequence }> {
    const scored = await this.score(this.heldOut.map((task) => [sequence, task]));
    const successes = scored.filter((one) => this.worth(one) >= 1);
    const rewards = successes.flatMap(({ reward }) => reward ?? []);
    return {
      hole: {
        pieces: sequence.map((piece) => this.pieces[piece]!.name),
        share: successes.length / scored.length,
        reward: rewards.reduce((sum, reward) => sum + reward, 0) / Math.max(1, rewards.length),
        examples: successes.slice(0, examples).map((one) => ({
          ...one,
          gold: one.success === true ? undefined : this.gold.get(one.task)?.response,
        })),
      },
      // Longer texts say more of how it works than the digits between them.
      decisive: sequence
        .toSorted((a, b) => this.pieces[b]!.name.length - this.pieces[a]!.name.length)
        .slice(0, 1),
    };
  }

  private async score(asked: readonly (readonly [Sequence, Task])[]): Promise<ScoredAnswer[]> {
    this.answers += asked.length;
    return this.scorer.score(
      asked.map(([sequence, task]) => ({
        task,
        response: written(
          sequence.map((piece) => this.pieces[piece]!),
          task,
        ),
      })),
    );
  }
}
