/** Scores answers that no run generated, with a config's reward as it is at its first or its last rl step. */
import { UserError } from "../../../shared/lib/errors.ts";
import { contextOf } from "../../algorithm/algorithm.ts";
import { applies, columnOf, outcome, RewardChain, rowValue } from "../../algorithm/rewards/rewards.ts";
import { Scorer } from "../../algorithm/rewards/scoring.ts";
import { decidingOrder } from "../../core/config/termFacts.ts";
import { stepsInAll } from "../../config/build/stagePlan.ts";
import type { RewardTermConfig, StageBody } from "../../core/config/resolved.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import type { CreateContext } from "../../core/declaration.ts";
import type { Clock, Finish } from "../../core/basics.ts";
import type { RewardColumn, RewardContext } from "../../core/reward.ts";
import type { Batch } from "../../core/rollouts.ts";
import { batchOfSamples, writtenRow } from "../../core/rows/sampledRows.ts";
import type { Task } from "../../core/task.ts";
import { randomStream } from "../../lib/random.ts";
import { stageAt } from "../explain/stageAt.ts";
import { isByOwnProcess } from "../../../shared/rollouts/criteria.ts";
import { noModels, noTokenizer } from "../rescore/noModels.ts";
import { FailureCauses } from "./failures/causes.ts";

export interface Answer {
  readonly task: Task;
  readonly response: string;
  /** Default: it ended by itself. */
  readonly finish?: Finish;
  /** Default: all answers to a task are one group. */
  readonly group?: string;
}

export interface ScoredAnswer extends Answer {
  /** Combined; null: nothing applies, or a term of non-zero weight failed. */
  readonly reward: number | null;
  /** As `reward.success` decides; null: the deciding term failed, or none applies. */
  readonly success: boolean | null;
  /** By term, before its weight; null: it does not apply, or failed. */
  readonly terms: Readonly<Record<string, number | null>>;
  readonly errors: Readonly<Record<string, string>>;
  /** The first of its tests that the program's own process graded, with the reason; absent: none was. */
  readonly ownProcess?: string;
}

/** A term that cannot score without a run, or whose function cannot be loaded. */
export interface SkippedTerm {
  readonly term: string;
  readonly reason: string;
  /** Of loading it. */
  readonly error?: UserError;
}

/** Rows of one call of the reward functions: enough that a call costs nothing, few enough that memory stays flat. */
const perBatch = 1024;

/** Characters count as tokens: there is no model here, and what has no length cannot be told from the empty answer. */
export function batchOf(answers: readonly Answer[]): Batch {
  return batchOfSamples(
    answers.map(({ task, response, finish = "stop", group = task.id }, index) => {
      const { source: arm, prompt } = task;
      return writtenRow(
        { task, arm, group, index, prompt, response, finish, source: "dataset", use: "evaluate" },
        new Int32Array([...response].length),
        new Int32Array(0),
      );
    }),
  );
}

const known = (value: number): number | null => (Number.isNaN(value) ? null : value);

/** The terms that decide what is a success of a source's answers: the first that applies does. */
export const decidingTerms = ({ reward }: StageBody, source: string): RewardTermConfig[] =>
  decidingOrder(reward).filter((term) => applies(term, source));

function ownProcessIn(columns: readonly RewardColumn[], row: number): Pick<ScoredAnswer, "ownProcess"> {
  const test = columns
    .flatMap(({ criteria }) => criteria?.get(row) ?? [])
    .find((criterion) => isByOwnProcess(criterion));
  return test === undefined ? {} : { ownProcess: test.text };
}

/** Scores one term. `Scorer` does, and what scores a file as it is in an editor. */
export interface TermScorer {
  prepare(): Promise<unknown>;
  /** One column. */
  score(batch: Batch, context: RewardContext): Promise<RewardColumn[]>;
  close(): Promise<void>;
}

interface ScorerOptions {
  /** Which of the rl steps: its tasks, and the weights that schedules give its terms. Default: the last. */
  readonly which?: "first" | "last";
  /** Ends what is being scored. */
  readonly signal?: AbortSignal;
  /** Of all terms this one alone is asked; the others apply to nothing. */
  readonly only?: string;
  /** Scores a term in the place of its file; undefined: the file does. */
  readonly instead?: (term: RewardTermConfig, body: StageBody) => TermScorer | undefined;
}

export class AnswerScorer {
  readonly body: StageBody;
  readonly skipped: SkippedTerm[] = [];
  /** Seconds that each term has taken so far. */
  readonly seconds = new Map<string, number>();
  /** Of all that failed so far. */
  readonly causes: FailureCauses;
  private readonly clock: Clock;
  private readonly context: CreateContext;
  private readonly scorers: ReadonlyMap<string, TermScorer>;
  private readonly signal: AbortSignal | undefined;
  private readonly chain: RewardChain;
  private readonly only: string | undefined;

  constructor(config: RunConfig, { which = "last", signal, only, instead }: ScorerOptions = {}) {
    this.signal = signal;
    this.only = only;
    const { body, clock } = stageAt(config, which === "first" ? 0 : stepsInAll(config.stages) - 1);
    this.body = body;
    this.clock = clock;
    this.causes = new FailureCauses(body.reward.terms);
    this.context = contextOf(body, { random: randomStream(config.seed, "reward-checks"), models: noModels });
    this.chain = new RewardChain(body.reward, this.context);
    this.scorers = new Map(
      body.reward.terms.map((term) => [
        term.name,
        instead?.(term, body) ?? new Scorer(body.reward, this.context, term.name),
      ]),
    );
  }

  /** Loads the functions of one's own. @throws UserError where one cannot be loaded */
  async prepare(): Promise<void> {
    for (const [name, scorer] of this.scorers) if (this.asks(name)) await scorer.prepare();
  }

  /**
   * As `prepare`, but a function that decides nothing costs its own term alone: what the others say is true without it.
   * @throws UserError where one that decides what a success is cannot be loaded
   */
  async prepareDeciding(): Promise<void> {
    for (const [name, scorer] of this.scorers) {
      if (!this.asks(name)) continue;
      try {
        await scorer.prepare();
      } catch (error) {
        if (!(error instanceof UserError) || this.decides(name)) throw error;
        this.skipped.push({ term: name, reason: error.message, error });
      }
    }
  }

  private decides(name: string): boolean {
    const { tasks } = this.body;
    return tasks.some(({ name: source }) => decidingTerms(this.body, source)[0]?.name === name);
  }

  async score(answers: readonly Answer[]): Promise<ScoredAnswer[]> {
    const scored = await this.sound(answers);
    this.causes.add(scored);
    return scored;
  }

  /** As `score`, of answers whose failing says nothing of the reward: their tasks may lack what it reads. */
  async sound(answers: readonly Answer[]): Promise<ScoredAnswer[]> {
    const scored: ScoredAnswer[] = [];
    for (let from = 0; from < answers.length; from += perBatch)
      scored.push(...(await this.scoreBatch(answers.slice(from, from + perBatch))));
    return scored;
  }

  async close(): Promise<void> {
    await Promise.all([...this.scorers.values()].map((scorer) => scorer.close()));
  }

  private async scoreBatch(answers: readonly Answer[]): Promise<ScoredAnswer[]> {
    const batch = batchOf(answers);
    const columns: RewardColumn[] = [];
    for (const [name, scorer] of this.scorers) columns.push(await this.column(name, scorer, batch));
    const { combined, success } = this.chain.rewards(columns, batch, this.clock);
    return answers.map((answer, row) => ({
      ...answer,
      ...ownProcessIn(columns, row),
      reward: combined.errored[row] === 1 ? null : known(combined.total[row]!),
      success: success[row] === outcome.unknown ? null : success[row] === outcome.right,
      terms: Object.fromEntries(columns.map((column) => [column.name, known(rowValue(column, row))])),
      errors: Object.fromEntries(
        columns.flatMap(({ name, errors }) => (errors.has(row) ? [[name, errors.get(row)!]] : [])),
      ),
    }));
  }

  private asks(name: string): boolean {
    return this.only === undefined || this.only === name;
  }

  private async column(name: string, scorer: TermScorer, batch: Batch): Promise<RewardColumn> {
    const none = (): RewardColumn =>
      columnOf(
        name,
        Array.from({ length: batch.rows }, () => ({ kind: "none" })),
        batch,
      );
    if (!this.asks(name) || this.skipped.some(({ term }) => term === name)) return none();
    this.signal?.throwIfAborted();
    const began = performance.now();
    try {
      const [column] = await scorer.score(batch, {
        ...(this.signal && { signal: this.signal }),
        models: noModels,
        tokenizer: noTokenizer,
        clock: this.clock,
      });
      return column ?? none();
    } catch (error) {
      if (!(error instanceof UserError) || error.detail.code?.startsWith("rescore-") !== true) throw error;
      this.skipped.push({ term: name, reason: "it needs a model, which only a run has" });
      return none();
    } finally {
      this.seconds.set(name, (this.seconds.get(name) ?? 0) + (performance.now() - began) / 1000);
    }
  }
}
