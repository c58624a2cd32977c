/** Who says whether a response meets a criterion: a model of the run, a server, a program of the workspace. */
import type { Criterion } from "../../../../shared/rollouts/criteria.ts";
import { selectRows } from "../../../core/rows/batch.ts";
import type { TermValue } from "../../../core/slots/reward.ts";
import type { Batch } from "../../../core/rollouts.ts";
import type { RewardContext } from "../../../core/reward.ts";
import type { UserReward } from "../own/userReward.ts";
import type { Teller } from "../judges/teller.ts";
import { verdictOf, type Verdict } from "../judges/verdict.ts";

/** One question: a row of the batch and a criterion of its task's rubric. */
export interface Question {
  readonly row: number;
  readonly criterion: Criterion;
  /** What a model is asked. */
  readonly text: string;
}

export type Judge = (
  questions: readonly Question[],
  batch: Batch,
  context: RewardContext,
) => Promise<readonly Verdict[]>;

/** Who answers in words says yes or no. */
export const tellerJudge =
  (ask: Teller): Judge =>
  async (questions, _, context) => {
    const told = await ask(
      questions.map(({ text }) => text),
      context,
    );
    return told.map(verdictOf);
  };

const ofProgram = (value: TermValue | undefined): Verdict => {
  if (value?.kind === "error") return value.message;
  if (value?.kind !== "value") return "the program returned no number";
  return value.value > 0 ? 1 : 0;
};

/** A user's function: it finds the criterion as `task.data.criterion` and says how far it is met; above 0 is met. */
export const programJudge =
  (program: UserReward): Judge =>
  async (questions, batch, context) => {
    const asked = selectRows(
      batch,
      questions.map(({ row }) => row),
    );
    const records = asked.records.map((record, i) => {
      const { text, points } = questions[i]!.criterion;
      const data = { ...record.task.data, criterion: { text, points } };
      return { ...record, task: { ...record.task, data } };
    });
    const values = await program.score({ ...asked, records }, context);
    return questions.map((_, i) => ofProgram(values[i]));
  };
