/** What the transforms that ask for a text share. */
import { z } from "zod";
import { template } from "../../config/references.ts";
import { fill } from "../../tasks/generated.ts";
import type { Task } from "../../seams.ts";

/** Keys of a request's template. */
export const places = ["prompt", "answer", "other", "feedback"] as const;

export const requestParams = (standard: string) =>
  z.object({
    request: template(...places)
      .default(standard)
      .describe(
        "Template of what an author is asked: `{prompt}` and `{answer}` of the parent, `{other}`: the prompts of further parents, `{feedback}`: how often each kind of task is solved, the weakest first.",
      ),
  });

export const request = (text: string, [parent, ...others]: readonly Task[], feedback = ""): string =>
  fill(text, {
    prompt: parent?.prompt ?? "",
    answer: parent?.answer ?? parent?.solution ?? "",
    other: others.map(({ prompt }) => prompt).join("\n"),
    feedback,
  });
