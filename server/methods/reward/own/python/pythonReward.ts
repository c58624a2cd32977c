/** A user's Python function as a reward term: a warm process that is asked for a whole batch, killed where it hangs. */
import { randomInt } from "node:crypto";
import type { Prepared, RewardContext } from "../../../../core/reward.ts";
import type { Batch } from "../../../../core/rollouts.ts";
import type { TermValue } from "../../../../core/slots/reward.ts";
import { failure } from "../../perRow.ts";
import { Hangs } from "../hangs.ts";
import { NoAnswer } from "../../../../lib/own/ownProcess.ts";
import type { CoveredReward, Reached } from "../reached.ts";
import { inputOf } from "../userReward.ts";
import type { ScoreInput } from "../wire.ts";
import { batchCall, keywordsOf, type Bound } from "./bind.ts";
import type { Convention } from "./convention.ts";
import { pythonImports } from "../../../../lib/python/imports.ts";
import { PythonFunction, type Loaded, type PythonFunctionOptions } from "./pythonFunction.ts";
import type { RowAnswer } from "./pythonProcess.ts";

export interface PythonRewardOptions extends PythonFunctionOptions {
  /** Seconds for one rollout. */
  readonly timeout: number;
}

/** Rollouts in one message of calls. */
const perMessage = 4096;
/** Calls of an asynchronous function at a time: most of them wait for a server. */
const together = 32;
/** One call for a whole batch may take as long as so many rollouts; after that each rollout is called for by itself. */
const batchCounts = 10;
/** Processes that calls of one batch may take down: each costs a start, with all imports. */
const crashesAllowed = 6;

/** Milliseconds in which a process may finish what it was asked before an abort. */
const grace = 250;
const abortion = (): NoAnswer => new NoAnswer("aborted", "aborted");

/** What is scored: rows of a batch, each with what its call is made of. */
interface Rows {
  readonly batch: Batch;
  readonly inputs: readonly ScoreInput[];
  readonly step: number;
  readonly signal: AbortSignal | undefined;
}

/** It changes while one waits. */
const isAborted = ({ signal }: Rows): boolean => signal?.aborted === true;

/** Of the rows that are left, those of one question. */
function asked(
  { batched, grouped }: Convention,
  { inputs }: Rows,
  left: readonly number[],
): readonly number[] {
  if (grouped === true) return left.filter((row) => inputs[row]!.group === inputs[left[0]!]!.group);
  return batched ? left : left.slice(0, perMessage);
}

/** How far the rows are: what was lost on the way decides how the rest is asked for. */
class Round {
  readonly values = new Map<number, TermValue>();
  /** One call for each rollout, in order: another call for several has ended the process. */
  alone = false;
  /** The row that ended the process once. */
  retried = -1;
  crashes = 0;
}

/** Whether one question is several rollouts' at a time, so that its silence is nobody's in particular. */
const isShared = ({ convention, asynchronous }: Bound, { alone }: Round): boolean =>
  !alone && (convention.batched || asynchronous);

/**
 * A rollout that takes too long, or takes the process down, is tried once more in a fresh process and is then an error;
 * what the function throws or wrongly returns is an error at once. An error is never a reward of 0.
 */
export class PythonReward implements CoveredReward {
  readonly function: PythonFunction;
  /** The last question's number. It begins anywhere, so that an answer that was made up does not meet it. */
  private asked = randomInt(2 ** 40);
  private readonly hangs: Hangs;
  /** The batch before: the process is asked one thing at a time, so batches wait for one another. */
  private before: Promise<unknown> = Promise.resolve();

  /** Whether the process is scoring, not loading. */
  private asking = false;

  constructor(private readonly options: PythonRewardOptions) {
    this.function = new PythonFunction(options);
    this.hangs = new Hangs(options.timeout);
  }

  async prepare(): Promise<Prepared> {
    const { sha256, text } = this.function.open();
    await this.function.ready();
    const { file } = this.options;
    const { files, modules } = pythonImports(file, text);
    const path = this.function.interpreterPath;
    return {
      bundle: sha256,
      sources: [{ path: file, text }, ...files],
      ...(path === undefined ? {} : { python: { path, modules } }),
    };
  }

  score(batch: Batch, { clock, tokenizer, signal }: RewardContext): Promise<readonly TermValue[]> {
    const setting = { step: clock.step, args: this.options.args, tokenizer };
    const inputs = [...batch.records.keys()].map((row) => inputOf(batch, row, setting));
    return this.scoreRows({ batch, inputs, step: clock.step, signal });
  }

  scoreRows(rows: Rows): Promise<readonly TermValue[]> {
    const scored = this.before.then(() => this.scoreAll(rows));
    // The caller gets the failure; the next batch only has to know that this one is over.
    this.before = scored.then(
      () => undefined,
      () => undefined,
    );
    return rows.signal === undefined ? scored : this.orAborted(scored, rows.signal);
  }

  cover(unsaved?: string): void {
    this.function.covers = true;
    this.function.open(unsaved);
  }

  reached(): Promise<Reached> {
    return this.function.reached();
  }

  close(): Promise<void> {
    return this.function.close();
  }

  /** The process has imported what takes long: where it is nearly through, an abort does not end it. */
  private orAborted<Scored>(scored: Promise<Scored>, signal: AbortSignal): Promise<Scored> {
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        const timer = setTimeout(() => this.asking && void this.function.drop(), grace).unref();
        void this.before.then(() => clearTimeout(timer));
        reject(abortion());
      };
      if (signal.aborted) return abort();
      signal.addEventListener("abort", abort, { once: true });
      scored.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
    });
  }

  private async scoreAll(rows: Rows): Promise<readonly TermValue[]> {
    const round = new Round();
    // What is counted is counted of each rollout by itself.
    round.alone = this.function.covers;
    const all = rows.inputs.map((_, row) => row);
    this.hangs.begin(rows.step);
    while (round.values.size < all.length) {
      const left = all.filter((row) => !round.values.has(row));
      const why = this.givenUp(round);
      if (why !== undefined) {
        for (const row of left) round.values.set(row, this.failed(why));
        break;
      }
      const ready = await this.function.ready();
      if (isAborted(rows)) throw abortion();
      this.asking = true;
      try {
        await this.ask(ready, rows, asked(ready.bound.convention, rows, left), round);
      } catch (error) {
        if (!(error instanceof NoAnswer)) throw error;
        await this.function.drop();
        if (isAborted(rows)) throw abortion();
        const first = left.find((row) => !round.values.has(row))!;
        this.lost(error, first, isShared(ready.bound, round), round);
      } finally {
        this.asking = false;
      }
    }
    return all.map((row) => round.values.get(row)!);
  }

  private givenUp({ crashes }: Round): string | undefined {
    if (this.hangs.tooMany) return this.hangs.message;
    if (crashes < crashesAllowed) return undefined;
    return `not called, because calls of this batch ended the process ${crashesAllowed} times`;
  }

  /** The process has died: what is tried next. @param row the first that has no answer */
  private lost(error: NoAnswer, row: number, shared: boolean, round: Round): void {
    if (error.cause_ === "crash") round.crashes += 1;
    round.alone = true;
    // Which of several rollouts it was shows when each is called for by itself.
    if (shared) return;
    if (error.cause_ === "timeout") this.hangs.add();
    if (round.retried === row) round.values.set(row, this.failed(`${error.message}, twice`));
    else if (this.hangs.tooMany) round.values.set(row, this.failed(error.message));
    else round.retried = row;
  }

  /** Asks for some rows: what is answered lies in the round, also where the process dies meanwhile. */
  private async ask(
    { host, bound }: Loaded,
    { batch, inputs }: Rows,
    rows: readonly number[],
    round: Round,
  ): Promise<void> {
    const { timeout } = this.options;
    const own = rows.map((row) => inputs[row]!);
    const take = (answer: RowAnswer): void => {
      const row = rows[answer.at];
      if (row !== undefined) round.values.set(row, this.valueOf(answer, bound));
    };
    const id = (this.asked += 1);
    const shared = isShared(bound, round);
    if (!bound.convention.batched) {
      const keywords = own.map((input) => keywordsOf(bound, input));
      const first = bound.convention.name === "verl";
      const question = { kind: "rows", id, rows: keywords, first, seconds: timeout } as const;
      // A loop that serves several calls gives each up by itself, a moment before the process would be ended.
      const seconds = shared ? timeout + 1 : timeout;
      await host.score({ ...question, together: shared ? together : 1 }, seconds, take);
    } else {
      const call = batchCall(bound, own, (at) => tokensOf(batch, rows[at]!));
      if (typeof call === "string") {
        for (const row of rows) round.values.set(row, this.failed(call));
        return;
      }
      const seconds = shared ? timeout * Math.min(rows.length, batchCounts) : timeout;
      const question = { kind: "batch", id, count: rows.length, each: round.alone, ...call } as const;
      await host.score(question, seconds, take);
    }
    for (const row of rows)
      if (!round.values.has(row)) round.values.set(row, this.failed("the process gave no result"));
  }

  private valueOf({ value, components, error }: RowAnswer, bound: Bound): TermValue {
    const more = components === undefined ? {} : { components };
    if (error !== undefined) return this.failed(withHint(error, bound, this.options.term));
    if (value === null) return { kind: "none", ...more };
    return typeof value === "number" && Number.isFinite(value)
      ? { kind: "value", value, ...more }
      : this.failed("the process gave no result");
  }

  private failed(message: string): TermValue {
    return failure(`${this.options.file}:${this.options.export}: ${this.function.inCells(message)}`);
  }
}

/** undefined: the response has text, but its tokens were not recorded. */
function tokensOf({ tokens, offsets, records }: Batch, row: number): readonly number[] | undefined {
  const own = Array.from(tokens.subarray(offsets[row], offsets[row + 1]));
  return own.length === 0 && records[row]!.response !== "" ? undefined : own;
}

/** TRL's own rewards read messages; a task of plain text has none. The place stays at the end, where it is looked for. */
const withHint = (error: string, { convention, messages }: Bound, term: string): string =>
  convention.name === "trl" && messages === undefined
    ? error.replace(
        /^(threw TypeError: string indices must be integers.*?)( \([^()]*\))?$/,
        `$1; its completions are text, since the data's \`prompt\` is no list of messages: \`messages: true\` at the term (\`--set reward.terms.${term}.messages=true\`) hands over messages$2`,
      )
    : error;
