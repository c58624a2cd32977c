import { z } from "zod";
import { guidanceSource, param } from "../../../core/declaration.ts";
import { refers, template } from "../../../core/references.ts";
import { fill, textField } from "../../../core/templates.ts";
import type { Help, HelpContext, HelpRequest, Lack } from "../../../core/slots/guidance.ts";

const wordsOf = ({ task, attempt }: HelpRequest): Record<string, string> => ({
  prompt: task.prompt,
  attempt: attempt?.response ?? "",
  solution: task.solution ?? "",
  answer: task.answer ?? "",
  reward: attempt === undefined || Number.isNaN(attempt.reward) ? "unknown" : String(attempt.reward),
});

export const feedback = guidanceSource({
  name: "feedback",
  summary:
    "Feedback on an attempt, from a field of the task or from a model that reads the attempt. The policy continues after it, or tries again with it in the prompt.",
  sources: [
    "ThinkTuning: Instilling Cognitive Reflections without Distillation",
    "Agent-RLVR: Training Software Engineering Agents via Guidance and Environment Rewards",
  ],
  offers: ({ place, model }) => ({
    place: place === "continue" ? "response" : "prompt",
    divisible: false,
    reads: "attempt",
    likely: model !== undefined,
  }),
  params: z.object({
    model: param(
      refers({ to: "model", also: ["policy", "reference"] }).optional(),
      "The model that writes the feedback; default: it is read from `field`.",
    ),
    field: param(refers({ to: "field" }).default("feedback"), "Field of the task's data with the text."),
    place: param(
      z.enum(["continue", "retry"]).default("retry"),
      "continue: after the attempt, which goes on; retry: in the prompt of a second attempt.",
    ),
    ask: param(
      template("prompt", "attempt", "solution", "answer", "reward").default(
        "Question: {prompt}\nAttempt: {attempt}\nSay what is wrong with it: ",
      ),
      "Template of the model's prompt: `{prompt}`, `{attempt}`, `{solution}`, `{answer}`, `{reward}`.",
    ),
    max_tokens: param(
      z.number().int().positive().optional(),
      "Longest feedback that the model writes, in tokens; default: the limit of rollouts.",
    ),
    before: param(z.string().default("\n"), "For `continue`: the text between the attempt and the feedback."),
    after: param(z.string().default("\n"), "For `continue`: the text after the feedback."),
    template: param(
      template("prompt", "attempt", "help").default(
        "{prompt}\nAn attempt that failed: {attempt}\nWhat is wrong: {help}\nAnother attempt: ",
      ),
      "For `retry`: template of the prompt: `{prompt}`, `{attempt}` and `{help}`.",
    ),
  }),
  create: ({ model, field, place, ask, max_tokens, before, after, template }) => {
    const texts = async (
      requests: readonly HelpRequest[],
      context: HelpContext,
    ): Promise<(string | undefined)[]> => {
      if (model === undefined) return requests.map(({ task }) => textField(task, field));
      const written = await context.write(
        requests.map((request) => ({
          model,
          prompt: fill(ask, wordsOf(request)),
          key: [...request.key, "feedback"],
          ...(max_tokens !== undefined && { max_tokens }),
        })),
      );
      return written.map(({ text }) => (text === "" ? undefined : text));
    };
    return {
      reads: "attempt",
      models: model === undefined ? [] : [model],
      help: async (requests, context) =>
        (await texts(requests, context)).map((help, i): Help | Lack => {
          const request = requests[i]!;
          const { attempt } = request;
          if (help === undefined)
            return { lack: model === undefined ? `the task has no ${field}` : "the model wrote nothing" };
          if (attempt === undefined) return { lack: "there is no attempt" };
          const by = model ?? field;
          if (place === "retry")
            return { from: "guided", by, prompt: fill(template, { ...wordsOf(request), help }) };
          const tokens = context.tokenizer.encode(before + help + after);
          return {
            from: "guided",
            by,
            lead: [
              { kind: "own", sample: attempt.sample },
              { kind: "given", tokens },
            ],
          };
        }),
    };
  },
});
