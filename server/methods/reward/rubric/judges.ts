/** Who says whether a response meets a criterion: a model of the run, a server, a program of the workspace. */
import { chatChoices, inParallel, type Asker, type Chat } from "../../../lib/chatCompletions.ts";
import type { Criterion } from "../../../../shared/rollouts/criteria.ts";
import { messageOf } from "../../../../shared/lib/errors.ts";
import { selectRows } from "../../../core/rows/batch.ts";
import type { TermValue } from "../../../core/slots/reward.ts";
import type { Batch } from "../../../core/rollouts.ts";
import type { Policy } from "../../../core/policy.ts";
import type { RewardContext } from "../../../core/reward.ts";
import type { UserReward } from "../own/userReward.ts";
import { textWithoutEnds } from "../../../core/rows/ends.ts";

/** One question: a row of the batch and a criterion of its task's rubric. */
export interface Question {
  readonly row: number;
  readonly criterion: Criterion;
  /** What a model is asked. */
  readonly text: string;
}

/** 1 met, 0 not; a text: why it is not known. */
export type Verdict = 0 | 1 | string;

export type Judge = (
  questions: readonly Question[],
  batch: Batch,
  context: RewardContext,
) => Promise<readonly Verdict[]>;

const asker: Asker = {
  who: "The judge",
  code: "judge-unreachable",
  action: "Start the server, or correct `judge.url`, `judge.model` and `judge.key`.",
};

/** The first yes or no that a judge says, or what it writes as `criteria_met` in JSON. */
export function verdictOf(said: string): Verdict {
  const [, word] =
    /"?criteria_met"?\s*:\s*(true|false)/i.exec(said) ?? /\b(yes|no|true|false)\b/i.exec(said) ?? [];
  if (word === undefined) return `the judge said neither yes nor no: ${JSON.stringify(said.slice(0, 80))}`;
  return /yes|true/i.test(word) ? 1 : 0;
}

/** Each question that differs from the others is asked once. */
async function onceEach(
  questions: readonly Question[],
  ask: (texts: readonly string[]) => Promise<readonly Verdict[]>,
): Promise<Verdict[]> {
  const texts = [...new Set(questions.map(({ text }) => text))];
  const verdicts = await ask(texts);
  const known = new Map(texts.map((text, i) => [text, verdicts[i] ?? "the judge gave no answer"]));
  return questions.map(({ text }) => known.get(text)!);
}

/** A server; a request that fails is made once more. */
export const endpointJudge =
  (chat: Chat, how: { readonly max_tokens: number }): Judge =>
  (questions) =>
    onceEach(questions, (texts) =>
      inParallel(texts, chat.parallel, async (text): Promise<Verdict> => {
        const ask = async (): Promise<Verdict> => {
          const [said] = await chatChoices(chat, text, { ...how, samples: 1, temperature: 0 }, asker);
          return verdictOf(said ?? "");
        };
        try {
          return await ask().catch(ask);
        } catch (error) {
          return messageOf(error);
        }
      }),
    );

function promptOf({ tokenizer }: Policy, text: string): Int32Array {
  const chat = tokenizer.chat?.([{ role: "user", content: text }]);
  return Int32Array.from([
    ...(chat === undefined ? (tokenizer.prefix ?? []) : []),
    ...tokenizer.encode(chat ?? text),
  ]);
}

/** A model of the run, which answers greedily. */
export const modelJudge =
  (name: string, how: { readonly max_tokens: number }): Judge =>
  (questions, _, { models }) =>
    onceEach(questions, async (texts) => {
      const policy = models.get(models.names.includes(name) ? name : "policy");
      const prompts = texts.map((text, i) => ({ tokens: promptOf(policy, text), key: ["judge", i] }));
      const fits = [...prompts.keys()].filter((i) => prompts[i]!.tokens.length < policy.context);
      const verdicts: Verdict[] = texts.map(() => "the question to the judge fills its context");
      const asked = fits.map((i) => prompts[i]!);
      for await (const { index, tokens } of policy.generate(asked, {
        ...how,
        temperature: 0,
        seed: 0,
        ...(models.names.includes(name) || name === "policy" ? {} : { model: name }),
      }))
        verdicts[fits[index]!] = verdictOf(textWithoutEnds(tokens, policy.tokenizer));
      return verdicts;
    });

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
