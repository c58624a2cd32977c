import { resolve } from "node:path";
import { z } from "zod";
import { guidanceSource, param } from "../../../core/declaration.ts";
import { refers, template } from "../../../core/references.ts";
import type { Task } from "../../../core/task.ts";
import { fill, textsByTask, type TextsByTask } from "../../../core/templates.ts";
import { comprehension } from "./comprehension.ts";
import type { Help, HelpContext, HelpRequest, Lack } from "../../../core/slots/guidance.ts";

/** A teacher's answer, to its end token where it has one. */
interface TeacherAnswer {
  readonly by: string;
  readonly tokens: Int32Array;
  readonly logp?: Float64Array;
}

/** Requests of one group share its teachers' answers. */
function byTask(requests: readonly HelpRequest[]): Map<string, number[]> {
  const groups = new Map<string, number[]>();
  requests.forEach(({ key }, i) => {
    const name = key.slice(0, 3).join("/");
    groups.set(name, [...(groups.get(name) ?? []), i]);
  });
  return groups;
}

export const teacher = guidanceSource({
  name: "teacher",
  summary:
    "Whole answers from other models or from a file: from all teachers in turn, from some drawn at random, or from those that make the reference answer likeliest for the policy.",
  formula: "answer_likelihood: the largest of mean_t π(answer_t | x, teacher's, answer_<t)",
  sources: [
    "More Than One Teacher: Adaptive Multi-Guidance Policy Optimization for Diverse Exploration",
    "Learning to Reason under Off-Policy Guidance",
  ],
  offers: ({ models }) => ({
    place: "response",
    divisible: false,
    whole: true,
    likely: models.length > 0,
  }),
  params: z.object({
    models: param(
      z.array(refers({ to: "model", also: ["reference"] })).default([]),
      "Models of the run that write answers, one answer each.",
    ),
    files: param(
      z.array(refers({ to: "file", ends: [".jsonl"] })).default([]),
      "JSONL files of answers, one teacher per file; lines have `prompt` (or `id`) and `response`.",
    ),
    select: param(
      z.enum(["all", "random", "answer_likelihood"]).default("all"),
      "Which answers are taken when there are more teachers than wanted answers.",
    ),
    answer_at: param(
      z.enum(["behind", "tags"]).default("behind"),
      "Where the policy reads the reference answer: after the teacher's whole answer, or in place of the teacher's between the tags, each of which must occur once (AMPO).",
    ),
    tags: param(
      z.tuple([z.string().min(1), z.string().min(1)]).default(["<answer>", "</answer>"]),
      "The tags that open and close a teacher's answer.",
    ),
    ask: param(template("prompt").default("{prompt}"), "Template of the models' prompt: `{prompt}`."),
  }),
  create: ({ models, files, select, answer_at, tags, ask }, { folder }) => {
    let known: TextsByTask[] | undefined;
    const read = (): NonNullable<typeof known> =>
      (known ??= files.map((file) => textsByTask(resolve(folder, file), ["response", "solution", "answer"])));
    /** Every teacher's answer to the tasks of some requests, request by request. */
    const answers = async (
      requests: readonly HelpRequest[],
      context: HelpContext,
    ): Promise<TeacherAnswer[][]> => {
      const asks = requests.flatMap(({ task, key }) =>
        models.map((model) => ({
          model,
          prompt: fill(ask, { prompt: task.prompt }),
          ...(task.begin !== undefined && { begin: task.begin }),
          key: [...key, model],
        })),
      );
      const written = await context.write(asks);
      return requests.map(({ task, random }, i) => [
        ...models.flatMap((by, j): TeacherAnswer[] => {
          const one = written[i * models.length + j]!;
          return one.tokens.length === 0
            ? []
            : [{ by, tokens: one.tokens, ...(one.logp && { logp: one.logp }) }];
        }),
        ...read().flatMap(({ of }, j): TeacherAnswer[] => {
          const texts = of(task);
          if (texts.length === 0) return [];
          const text = texts[random.fork("file", j).integer(texts.length)]!;
          const { encode, eos } = context.tokenizer;
          return [{ by: files[j]!, tokens: Int32Array.from([...encode.call(context.tokenizer, text), eos]) }];
        }),
      ]);
    };
    /** In the order in which they are taken. */
    const ordered = async (
      task: Task,
      own: readonly TeacherAnswer[],
      first: HelpRequest,
      context: HelpContext,
    ): Promise<TeacherAnswer[]> => {
      if (select === "all") return [...own];
      const scores =
        select === "random"
          ? own.map((_, i) => first.random.fork("teacher", i).next())
          : await comprehension(
              own.map(({ tokens }) => ({ task, tokens })),
              { answer_at, tags },
              context,
            );
      return own
        .map((answer, i) => ({ answer, score: scores[i]! }))
        .sort((a, b) => b.score - a.score)
        .map(({ answer }) => answer);
    };
    return {
      reads: "task",
      models,
      prepare: () => read().flatMap(({ omitted }) => omitted ?? []),
      help: async (requests, context) => {
        const groups = [...byTask(requests).values()];
        const firsts = groups.map(([first]) => requests[first!]!);
        const all = await answers(firsts, context);
        const found: (Help | Lack)[] = [];
        for (const [g, members] of groups.entries()) {
          const order = await ordered(firsts[g]!.task, all[g]!, firsts[g]!, context);
          members.forEach((at, n) => {
            // A group that wants more answers than there are teachers gets each once.
            const answer = order[n];
            found[at] =
              answer === undefined
                ? {
                    lack:
                      order.length === 0
                        ? "no teacher has an answer to the task"
                        : "there are fewer teachers than helped rollouts",
                  }
                : {
                    from: "teacher",
                    whole: true,
                    by: answer.by,
                    lead: [
                      { kind: "given", tokens: answer.tokens, ...(answer.logp && { logp: answer.logp }) },
                    ],
                  };
          });
        }
        return found;
      },
    };
  },
});
