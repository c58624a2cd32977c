import { resolve } from "node:path";
import { z } from "zod";
import { guidanceSource, param } from "../../../core/declaration.ts";
import { refers, template } from "../../../core/references.ts";
import type { HelpContext, HelpRequest, Help, Lack } from "../../../core/slots/guidance.ts";
import { fill, firstText, textField, textsByTask, units, type TextsByTask } from "../../../core/templates.ts";

const lacks = {
  field: "the task has no such field",
  file: "the file has no hint for the task",
  model: "the model wrote nothing",
};

export const hint = guidanceSource({
  name: "hint",
  summary:
    "A hint in the prompt: from a field of the task, from a file, or written by a model that may see the solution.",
  sources: ["Adaptive Guidance Accelerates Reinforcement Learning of Reasoning Models"],
  offers: () => ({ place: "prompt", divisible: true }),
  params: z.object({
    field: param(refers({ to: "field" }).default("hint"), "Field of the task's data with the text."),
    file: param(
      refers({ to: "file", ends: [".jsonl"] }).optional(),
      "Instead of `field`: a JSONL file whose lines have `prompt` (or `id`) and `hint`.",
    ),
    model: param(
      refers({ to: "model", also: ["policy"] }).optional(),
      "Instead of `field`: a model that writes the hint.",
    ),
    ask: param(
      template("prompt", "solution", "answer").default(
        "Question: {prompt}\nSolution: {solution}\nGive a hint that does not tell the answer: ",
      ),
      "Template of the model's prompt: `{prompt}`, `{solution}`, `{answer}`.",
    ),
    max_tokens: param(
      z.number().int().positive().optional(),
      "Longest hint that the model writes, in tokens; default: the limit of rollouts.",
    ),
    by: param(
      z.enum(units).default("word"),
      "The units that a hint is cut between when only a share of it is shown.",
    ),
    template: param(
      template("prompt", "help").default("{prompt}\nHint: {help}\n"),
      "Template of the prompt with its hint: `{prompt}` and `{help}`.",
    ),
  }),
  create: ({ field, file, model, ask, max_tokens, by, template }, { folder }) => {
    let inFile: TextsByTask | undefined;
    const read = (): TextsByTask => (inFile ??= textsByTask(resolve(folder, file ?? ""), ["hint", "help"]));
    const hints = async (
      requests: readonly HelpRequest[],
      context: HelpContext,
    ): Promise<(string | undefined)[]> => {
      if (model !== undefined)
        return (
          await context.write(
            requests.map(({ task, key }) => ({
              model,
              prompt: fill(ask, {
                prompt: task.prompt,
                solution: task.solution ?? "",
                answer: task.answer ?? "",
              }),
              key: [...key, "hint"],
              ...(max_tokens !== undefined && { max_tokens }),
            })),
          )
        ).map(({ text }) => (text === "" ? undefined : text));
      if (file === undefined) return requests.map(({ task }) => textField(task, field));
      return requests.map(({ task, random }) => {
        const own = read().of(task);
        return own[own.length === 0 ? 0 : random.fork("file").integer(own.length)];
      });
    };
    const from = model !== undefined ? "model" : file !== undefined ? "file" : "field";
    return {
      reads: "task",
      models: model === undefined ? [] : [model],
      prepare: () => [file === undefined ? [] : (read().omitted ?? [])].flat(),
      help: async (requests, context) =>
        (await hints(requests, context)).map((text, i): Help | Lack => {
          if (text === undefined) return { lack: lacks[from] };
          const { task, share } = requests[i]!;
          const help = firstText(text, share, by, context.tokenizer);
          return {
            from: "guided",
            by: model ?? file ?? field,
            ...(help !== "" && { prompt: fill(template, { prompt: task.prompt, help }) }),
          };
        }),
    };
  },
});
