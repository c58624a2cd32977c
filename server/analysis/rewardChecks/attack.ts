/**
 * A policy that is trained to please the reward without ever seeing a reference answer. What it finds to succeed on tasks
 * that it did not train on is a hole of the reward, not a skill.
 */
import type { RunConfig } from "../../core/config/runConfig.ts";
import type { Task } from "../../core/task.ts";
import { randomStream } from "../../lib/random.ts";
import type { AnswerScorer, ScoredAnswer } from "./answers.ts";
import type { CheckedTask } from "./checkedTasks.ts";
import { AnswerCount, AttackTasks, usualHoles, type AttackReport, type Hole } from "./attackTasks.ts";
import { PiecePolicy, type Sequence } from "./pieces/piecePolicy.ts";
import { piecesFor, written, type Piece } from "./pieces/pieces.ts";

interface AttackOptions {
  /** For all of it. */
  readonly seconds: number;
  /** Ends after so many. */
  readonly holes?: number;
  /** Default: the config's. */
  readonly tasks?: readonly CheckedTask[];
}

const perBatch = 64;
/** Steps of a policy; twice as many after each that found nothing new. */
const firstSteps = 40;
const mostEmpty = 3;

export async function attackReward(
  config: RunConfig,
  scorer: AnswerScorer,
  { seconds, holes: most = usualHoles, tasks }: AttackOptions,
): Promise<AttackReport> {
  const attack = await Attack.of(config, scorer, tasks);
  await attack.easiest();
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
  return { holes, ...attack.count.report, seconds: (performance.now() - began) / 1000 };
}

interface Round {
  /** Pieces that earlier holes needed. */
  readonly banned: ReadonlySet<number>;
  readonly steps: number;
  readonly over: () => boolean;
}

class Attack {
  readonly count = new AnswerCount();

  private constructor(
    private readonly scorer: AnswerScorer,
    private readonly seed: number,
    private readonly pieces: readonly Piece[],
    private readonly tasks: AttackTasks,
  ) {}

  static async of(
    config: RunConfig,
    scorer: AnswerScorer,
    all: readonly CheckedTask[] | undefined,
  ): Promise<Attack> {
    return new Attack(scorer, config.seed, piecesFor(scorer.body), await AttackTasks.of(config, scorer, all));
  }

  /** What every policy can write at once: nothing, and the prompt. */
  async easiest(): Promise<void> {
    const answers = this.tasks.train.flatMap((task) =>
      ["", task.prompt].map((response) => ({ task, response })),
    );
    this.count.of(await this.scorer.score(answers));
  }

  /** Trains one policy from the beginning; undefined: it found no hole. */
  async round(
    round: number,
    { banned, steps, over }: Round,
  ): Promise<{ readonly hole: Hole; readonly decisive: Sequence } | undefined> {
    const random = randomStream(this.seed, "attack", round);
    const { train } = this.tasks;
    const policy = new PiecePolicy(this.pieces.length, random, banned);
    const tried = new Map<string, { readonly sequence: Sequence; best: number }>();
    for (let step = 0; step < steps && !over(); step++) {
      const sequences = Array.from({ length: perBatch }, () => policy.write());
      const tasks = sequences.map(() => train[Math.floor(random.next() * train.length)]!);
      const scored = await this.score(sequences.map((sequence, i) => [sequence, tasks[i]!]));
      const rewards = scored.map((one) => this.tasks.worth(one));
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
        if ((await this.shareOf(sequence)) >= this.tasks.enough)
          return this.hole(await this.shortened(sequence));
        // It succeeded by luck on the task it met.
        tried.get(sequence.join(" "))!.best = 0;
      }
    }
    return undefined;
  }

  private async shareOf(sequence: Sequence): Promise<number> {
    return this.tasks.shareOf(await this.score(this.tasks.heldOut.map((task) => [sequence, task])));
  }

  /** Pieces that are not needed are left out. */
  private async shortened(sequence: Sequence): Promise<Sequence> {
    for (let i = 0; i < sequence.length; i++) {
      const shorter = sequence.filter((_, at) => at !== i);
      if ((await this.shareOf(shorter)) >= this.tasks.enough) return this.shortened(shorter);
    }
    return sequence;
  }

  private async hole(sequence: Sequence): Promise<{ readonly hole: Hole; readonly decisive: Sequence }> {
    const scored = await this.score(this.tasks.heldOut.map((task) => [sequence, task]));
    return {
      hole: this.tasks.hole(
        sequence.map((piece) => this.pieces[piece]!.name),
        scored,
      ),
      // Longer texts say more of how it works than the digits between them.
      decisive: sequence
        .toSorted((a, b) => this.pieces[b]!.name.length - this.pieces[a]!.name.length)
        .slice(0, 1),
    };
  }

  private async score(asked: readonly (readonly [Sequence, Task])[]): Promise<readonly ScoredAnswer[]> {
    const answers = asked.map(([sequence, task]) => ({
      task,
      response: written(
        sequence.map((piece) => this.pieces[piece]!),
        task,
      ),
    }));
    return this.count.of(await this.scorer.score(answers));
  }
}
