import { dirname } from "node:path";
import { UserError } from "../../../../shared/lib/errors.ts";
import type { JsonObject } from "../../../../shared/lib/json.ts";
import type { TermValue } from "../../../core/slots/reward.ts";
import type { Batch } from "../../../core/rollouts.ts";
import type { Tokenizer } from "../../../core/policy.ts";
import type { Prepared, RewardContext } from "../../../core/reward.ts";
import { lengthOfRow } from "../../../core/rows/batch.ts";
import { randomInt } from "node:crypto";
import { bundledSources, type Bundle } from "../../../lib/own/bundle.ts";
import { bundleReward } from "./bundleReward.ts";
import { coveredScript, type CoveredScript } from "./coveredScript.ts";
import { cut } from "../../../lib/own/cut.ts";
import { Hangs } from "./hangs.ts";
import { HostProcess } from "./hostProcess.ts";
import { NoAnswer } from "../../../lib/own/ownProcess.ts";
import { failure } from "../perRow.ts";
import { noneReached, reachedOf, reachedSeconds, type CoveredReward, type Reached } from "./reached.ts";
import type { ScoreInput } from "./wire.ts";
import { textWithoutEnds } from "../../../core/rows/ends.ts";

function stepsOf(batch: Batch, row: number, tokenizer: Tokenizer): readonly string[] | undefined {
  const start = batch.offsets[row]!;
  return batch.records[row]!.steps?.map(([from, to]) =>
    textWithoutEnds(batch.tokens.subarray(start + from, start + to), tokenizer),
  );
}

function turnsOf(batch: Batch, row: number, tokenizer: Tokenizer): ScoreInput["turns"] {
  const first = batch.offsets[row]!;
  return batch.records[row]!.turns?.map(({ role, start, end }) => ({
    role,
    text: textWithoutEnds(batch.tokens.subarray(first + start, first + end), tokenizer),
  }));
}

/** Seconds for importing the module: its own top-level code may be slow, but not for ever. */
const loadSeconds = 20;

interface UserRewardOptions {
  /** Absolute path. */
  readonly file: string;
  readonly export: string;
  readonly term: string;
  readonly args: JsonObject;
  /** Seconds for one rollout. */
  readonly timeout: number;
}

/** What the function receives of a run besides its rollouts. */
interface ScoreSetting {
  readonly step: number;
  readonly args: JsonObject;
  /** Reads the steps and turns of responses that were divided; without it they are not passed on. */
  readonly tokenizer?: Tokenizer | undefined;
}

/** What the function is given of a row. */
export function inputOf(batch: Batch, row: number, { step, args, tokenizer }: ScoreSetting): ScoreInput {
  const { task, prompt, response, finish, index, group } = batch.records[row]!;
  const { id, source, env, answer, data } = task;
  const steps = tokenizer && stepsOf(batch, row, tokenizer);
  const turns = tokenizer && turnsOf(batch, row, tokenizer);
  return {
    prompt,
    response,
    finish,
    index,
    group,
    task: { id, source, env, prompt: task.prompt, data, ...(answer === undefined ? {} : { answer }) },
    ...(steps && { steps }),
    ...(turns && { turns }),
    length: lengthOfRow(batch, row),
    step,
    args,
  };
}

/**
 * A user's function in a process that can be killed. A rollout that takes too long, or takes the process down, is
 * tried once more in a fresh process and is then an error; what the function throws or wrongly returns is an error at
 * once. An error is never a reward of 0.
 */
export class UserReward implements CoveredReward {
  private bundle: Promise<Bundle> | undefined;
  /** With marks, where what calls reach is counted. */
  private covered: Promise<CoveredScript> | undefined;
  private host: HostProcess | undefined;
  /** A process in which the function is being loaded. */
  private loading: HostProcess | undefined;
  /** The last question's number. It begins anywhere, so that an answer that was made up does not meet it. */
  private asked = randomInt(2 ** 40);
  private readonly hangs: Hangs;
  /** The batch before: the process is asked one thing at a time, so batches wait for one another. */
  private before: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: UserRewardOptions) {
    this.hangs = new Hangs(options.timeout);
  }

  async prepare(): Promise<Prepared> {
    const { file, term } = this.options;
    const bundle = await (this.bundle ??= bundleReward(file, term));
    await this.ready();
    return { bundle: bundle.sha256, sources: bundledSources(file, bundle) };
  }

  score(batch: Batch, context: RewardContext): Promise<readonly TermValue[]> {
    const scored = this.before.then(() => this.scoreRows(batch, context));
    // The caller gets the failure; the next batch only has to know that this one is over.
    this.before = scored.then(
      () => undefined,
      () => undefined,
    );
    return scored;
  }

  cover(unsaved?: string): void {
    const { file, term } = this.options;
    this.bundle = bundleReward(file, term, unsaved);
    this.covered = this.bundle.then(({ text }) => coveredScript(text, file));
    // Whoever asks first is given the failure.
    this.covered.catch(() => undefined);
  }

  async reached(): Promise<Reached> {
    const { host, covered } = this;
    if (host === undefined || covered === undefined) return noneReached;
    try {
      const answer = await host.ask({ kind: "reached" }, reachedSeconds);
      return answer.kind === "reached" ? reachedOf(answer, await covered) : noneReached;
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      await host.close();
      this.host = undefined;
      return noneReached;
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.host?.close(), this.loading?.close()]);
    this.host = undefined;
    this.bundle = undefined;
  }

  private async scoreRows(batch: Batch, context: RewardContext): Promise<readonly TermValue[]> {
    const { clock, tokenizer, signal } = context;
    const setting = { step: clock.step, args: this.options.args, tokenizer };
    const values: TermValue[] = [];
    this.hangs.begin(clock.step);
    for (let row = 0; row < batch.rows; row++)
      values.push(await this.scoreRow(inputOf(batch, row, setting), signal));
    return values;
  }

  private async scoreRow(input: ScoreInput, signal: AbortSignal | undefined): Promise<TermValue> {
    let problem = "";
    if (this.hangs.tooMany) return this.failed(this.hangs.message);
    for (let attempt = 0; attempt < 2; attempt++) {
      const host = await this.ready();
      try {
        const answer = await host.ask(
          { kind: "score", id: (this.asked += 1), input },
          this.options.timeout,
          signal,
        );
        if (answer.kind !== "scored") return this.failed("the process answered another call");
        return answer.value.kind === "error" ? this.failed(answer.value.message) : answer.value;
      } catch (error) {
        if (!(error instanceof NoAnswer) || error.cause_ === "aborted") throw error;
        problem = error.message;
        await host.close();
        this.host = undefined;
        if (error.cause_ === "timeout") this.hangs.add();
        if (this.hangs.tooMany) return this.failed(problem);
      }
    }
    return this.failed(`${problem}, twice`);
  }

  private failed(message: string): TermValue {
    return failure(`${this.options.file}:${this.options.export}: ${message}`);
  }

  /** A process with the function loaded. */
  private async ready(): Promise<HostProcess> {
    if (this.host !== undefined) return this.host;
    const { text } = await (this.covered ??
      (this.bundle ??= bundleReward(this.options.file, this.options.term)));
    const host = (this.loading = new HostProcess(dirname(this.options.file)));
    try {
      const cover = this.covered !== undefined;
      const answer = await host.load(text, this.options.export, loadSeconds, cover);
      if (answer.kind === "refused") throw this.refusal(answer.message);
    } catch (error) {
      await host.close();
      throw error instanceof NoAnswer ? this.refusal(`loading it: ${error.message}`) : error;
    } finally {
      this.loading = undefined;
    }
    this.host = host;
    return host;
  }

  private refusal(message: string): UserError {
    const { file, term } = this.options;
    return new UserError(`reward term "${term}": ${cut(message)}`, {
      file,
      code: "reward-load",
      action:
        "Export `function score({ prompt, response, task })` from the file, or name another export with `use: file:export`.",
    });
  }
}
