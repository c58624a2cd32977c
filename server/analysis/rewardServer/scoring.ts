/** Requests in OpenRLHF's protocol, scored together. */
import { UserError } from "../../../shared/lib/errors.ts";
import type { Answered } from "../../lib/http/loopbackServer.ts";
import type { Answer, AnswerScorer, ScoredAnswer } from "../rewardChecks/answers.ts";
import { answersOf, replyOf, requestOf, termReply, type FindTask } from "./requests.ts";

/** Answers that are scored in one call. */
const mostAnswers = 1024;

interface Waiting {
  readonly answers: readonly Answer[];
  readonly done: (scored: readonly ScoredAnswer[]) => void;
  readonly failed: (error: unknown) => void;
}

/** Scores what has come together: OpenRLHF asks for one rollout a request. */
export class Scoring {
  private readonly waiting: Waiting[] = [];
  private busy = false;
  private requests = 0;

  /** @param scorer prepared; it is the caller's to close */
  constructor(
    private readonly scorer: AnswerScorer,
    private readonly find?: FindTask,
  ) {}

  /** @param text a request's body */
  async answer(text: string): Promise<Answered> {
    const asked = requestOf(text);
    if (typeof asked === "string") return [400, { error: asked }];
    const answers = answersOf(asked, this.scorer.body, `request ${++this.requests}`, this.find);
    if (typeof answers === "string") return [400, { error: answers }];
    const scored = await this.score(answers);
    const reply = asked.term === undefined ? replyOf(scored) : termReply(scored, asked.term);
    // An answer whose reward failed is no reward of 0: OpenRLHF asks again, and then gives up.
    return typeof reply === "string" ? [500, { error: reply }] : [200, reply];
  }

  private score(answers: readonly Answer[]): Promise<readonly ScoredAnswer[]> {
    return new Promise((done, failed) => {
      this.waiting.push({ answers, done, failed });
      void this.drain();
    });
  }

  private async drain(): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    while (this.waiting.length > 0) {
      const taken: Waiting[] = [];
      let size = 0;
      while (
        this.waiting.length > 0 &&
        (taken.length === 0 || size + this.waiting[0]!.answers.length <= mostAnswers)
      ) {
        const next = this.waiting.shift()!;
        size += next.answers.length;
        taken.push(next);
      }
      await this.scoreThose(taken);
    }
    this.busy = false;
  }

  private async scoreThose(taken: readonly Waiting[]): Promise<void> {
    try {
      const scored = await this.scorer.score(taken.flatMap(({ answers }) => answers));
      const [skipped] = this.scorer.skipped;
      if (skipped !== undefined)
        throw new UserError(`the reward term ${skipped.term} cannot be served: ${skipped.reason}`, {
          code: "reward-serve-model",
          action: "Remove the term from the config that is served.",
        });
      let at = 0;
      for (const { answers, done } of taken) done(scored.slice(at, (at += answers.length)));
    } catch (error) {
      for (const { failed } of taken) failed(error);
    }
  }
}
