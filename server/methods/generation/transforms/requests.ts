/** What the transforms that ask for a text share. */
import { z } from "zod";
import { param } from "../../../core/declaration.ts";
import { template } from "../../../core/references.ts";
import { fill } from "../../../core/templates.ts";
import { TextPattern } from "../../../lib/texts/textPattern.ts";
import { isPattern } from "../../../lib/textSpans.ts";
import type { Task } from "../../../core/task.ts";
import type { ChildBrief } from "../../../core/slots/generation.ts";

/** Keys of a request's template. */
const places = ["prompt", "answer", "other", "feedback"] as const;

const takeParam = param(
  z.string().refine(isPattern, { message: "must be a regular expression" }).optional(),
  "Regular expression whose first group is the new task in the author's text; `.` matches line ends too. Default: all of the text.",
);

/** @param more places that this transform fills too */
export const requestParams = (standard: string, ...more: readonly string[]) =>
  z.object({
    request: param(
      template(...places, ...more).default(standard),
      "Template of the request to the author: `{prompt}` and `{answer}` of the parent, `{other}`: the prompts of further parents, `{feedback}`: how often each kind of task is solved, the weakest first" +
        (more.length === 0
          ? "."
          : `; ${more.map((place) => `\`{${place}}\``).join(", ")}: what was drawn for it.`),
    ),
    take: takeParam,
  });

/** What of a text is the task, as a transform has it. */
export const taken = (take: string | undefined): { readonly take?: TextPattern } =>
  take === undefined ? {} : { take: new TextPattern(take, "s") };

export const request = (
  text: string,
  [parent, ...others]: readonly Task[],
  feedback = "",
  drawn?: ChildBrief,
): string =>
  fill(text, {
    ...(drawn === undefined
      ? {}
      : {
          concepts: drawn.concepts.map((concept, i) => `${i + 1}. ${concept}`).join("\n"),
          category: drawn.category,
          level: drawn.level,
        }),
    prompt: parent?.prompt ?? "",
    answer: parent?.answer ?? parent?.solution ?? "",
    other: others.map(({ prompt }) => prompt).join("\n"),
    feedback,
  });
