import { z } from "zod";
import { template } from "../../../core/references.ts";
import { taskTransform, param } from "../../../core/declaration.ts";
import { fill } from "../../../core/templates.ts";

export const maskSpan = taskTransform({
  name: "mask_span",
  summary:
    "The parent's prompt and solution with a span of words hidden; the answer is the hidden span. Needs no author.",
  formula: "span ~ U{runs of `words` words}",
  sources: ["PretrainZero: Reinforcement Active Pretraining"],
  status: "approximate",
  params: z.object({
    words: param(z.number().int().min(1).default(1), "Number of words to hide."),
    mask: param(z.string().min(1).default("[MASK]"), "Text in place of the hidden words."),
    request: param(
      template("text").default("{text}\nHidden: "),
      "Template of the new prompt: `{text}` with its span hidden.",
    ),
  }),
  create: ({ words, mask, request }) => ({
    level: 0,
    parents: 1,
    keeps_answer: false,
    ask: () => "",
    make: ({ task: parent }, random) => {
      const text = `${parent.prompt}${parent.solution ?? parent.answer ?? ""}`;
      // Words with the blanks between them, so that what is not hidden stays as it was.
      const parts = text.split(/(\s+)/);
      const starts = [...parts.keys()].filter(
        (i) => i % 2 === 0 && parts[i] !== "" && i + 2 * (words - 1) < parts.length,
      );
      const from = starts[starts.length === 0 ? 0 : random.integer(starts.length)];
      if (from === undefined) return null;
      const to = from + 2 * words - 1;
      const masked = [...parts.slice(0, from), mask, ...parts.slice(to)].join("");
      return {
        env: "mask_span",
        prompt: fill(request, { text: masked }),
        answer: parts.slice(from, to).join(""),
        data: { of: parent.id },
        solution: parts.slice(from, to).join(""),
      };
    },
  }),
});
