import { tagged } from "../../lib/texts/tagged.ts";
import { join } from "node:path";
import { z } from "zod";
import { UserError } from "../../../shared/lib/errors.ts";
import { isObject, type Json, type JsonObject } from "../../../shared/lib/json.ts";
import { param, rewardTerm } from "../../core/declaration.ts";
import type { Prepared, RewardContext, RewardTerm } from "../../core/reward.ts";
import type { Batch, RolloutRecord } from "../../core/rollouts.ts";
import type { TermValue } from "../../core/slots/reward.ts";
import { missingPackage } from "../../lib/own/interpreter.ts";
import { OwnObject, type OpenObject } from "../../lib/own/ownObject.ts";
import { hostFile } from "../../lib/own/ownProcess.ts";
import { failure, none, value } from "./perRow.ts";

/** Seconds for one message of answers where the config does not say. */
const defaultTimeout = 60;

/** The last tagged answer, as the package's `extract_answer` takes it; the whole response without a tag; null: none. */
function answerIn(response: string, tag: string | null): string | null {
  if (tag === null) return response.trim();
  return tagged(response, [tag]).at(-1)?.trim() ?? null;
}

/** What the package needs to score a rollout; undefined: its task is none of reasoning-gym. */
function rowOf({ task, response }: RolloutRecord, tag: string | null): JsonObject | undefined {
  const { gym, index, question } = task.data;
  if (!isObject(gym) || typeof index !== "number" || typeof question !== "string") return undefined;
  return { value: gym, index, question, answer: answerIn(response, tag) };
}

const scoreOf = (score: Json | undefined): TermValue =>
  typeof score === "number" ? value(score) : failure(String(score ?? "it gave no score"));

class ReasoningGymReward implements RewardTerm {
  private readonly own: OwnObject;
  private opened: Promise<OpenObject> | undefined;
  /** The batch before: the process is asked one thing at a time. */
  private before: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly tag: string | null,
    options: { readonly folder: string; readonly python: string | undefined; readonly timeout: number },
  ) {
    const code = "reasoning-gym";
    this.own = new OwnObject({
      ...options,
      file: hostFile("reasoningGym.py", process.env["GRADUS_REASONING_GYM"]),
      near: join(options.folder, "reasoning_gym"),
      // What a dataset draws from a set is the same in every process.
      environment: { PYTHONHASHSEED: "0" },
      export: "score",
      role: "tool",
      owner: { what: "term", key: "use", missing: code, build: code, python: "reward-python", load: code },
    });
  }

  async prepare(): Promise<Prepared> {
    await this.own.look();
    this.opened ??= this.own.open();
    try {
      await (await this.opened).ask({ kind: "call", args: { rows: [] }, episode: "" });
    } catch (error) {
      if (!(error instanceof Error) || !error.message.includes("No module named 'reasoning_gym'"))
        throw error;
      throw missingPackage("reasoning-gym", this.own.made?.python?.path);
    }
    return {};
  }

  score(batch: Batch, { signal }: RewardContext): Promise<readonly TermValue[]> {
    const scored = this.before.then(() => this.scoreAll(batch, signal));
    // The caller gets the failure; the next batch only has to know that this one is over.
    this.before = scored.catch(() => undefined);
    return scored;
  }

  private async scoreAll(batch: Batch, signal: AbortSignal | undefined): Promise<readonly TermValue[]> {
    const rows = batch.records.map((record) => rowOf(record, this.tag));
    const asked = rows.filter((row) => row !== undefined);
    if (asked.length === 0) return rows.map(() => none);
    const scores = await this.scores(asked, signal);
    let at = 0;
    return rows.map((row) => (row === undefined ? none : scores[at++]!));
  }

  private async scores(rows: readonly JsonObject[], signal: AbortSignal | undefined): Promise<TermValue[]> {
    const object = await (this.opened ??= this.own.open());
    try {
      const answer = await object.ask({ kind: "call", args: { rows }, episode: "" }, signal);
      const scores: Json = JSON.parse(String(answer));
      return rows.map((_, at) => (Array.isArray(scores) ? scoreOf(scores[at]) : scoreOf(undefined)));
    } catch (error) {
      if (signal?.aborted === true || error instanceof UserError) throw error;
      const message = error instanceof Error ? error.message : String(error);
      return rows.map(() => failure(message));
    }
  }

  async close(): Promise<void> {
    // Whoever asked was given the failure of one that did not start.
    const opened = await this.opened?.catch(() => undefined);
    this.opened = undefined;
    await Promise.all([opened?.close(), this.own.close()]);
  }
}

export const reasoningGymTerm = rewardTerm({
  name: "reasoning_gym",
  summary:
    "What reasoning-gym's own `score_answer` gives the answer to one of its tasks. An answer that it cannot read is scored 0.",
  formula: "r = dataset.score_answer(answer, entry) ∈ [0, 1]",
  sources: ["REASONING GYM: Reasoning Environments for Reinforcement Learning with Verifiable Rewards"],
  judges: "answer",
  range: () => [0, 1],
  params: z.object({
    tag: param(
      z.string().min(1).nullable().default("answer"),
      "The tag that the answer is in, the last where there are several; null: the whole response is the answer.",
    ),
    timeout: param(z.number().positive().default(defaultTimeout), "Seconds for the answers of a batch."),
    python: param(
      z.string().min(1).optional(),
      "The interpreter that has `reasoning-gym`, as at the task: a path relative to the config, a virtual environment's folder, or a command.",
    ),
  }),
  create: ({ tag, timeout, python }, { folder }) => new ReasoningGymReward(tag, { folder, timeout, python }),
});
