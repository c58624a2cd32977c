/** What the other model of a KL entry reads in addition to the task's prompt. */
import { z } from "zod";
import { param } from "../declaration.ts";
import { refers, template } from "../references.ts";

const source = z.enum(["sibling", "wrong_sibling", "solution", "answer", "field"]);

const form = z.strictObject({
  what: param(
    source.default("sibling"),
    "sibling: a rollout of the same group that succeeded; wrong_sibling: one that failed; solution, answer: the task's; field: a field of its data.",
  ),
  nth: param(
    z.number().int().min(1).default(1),
    "Which of the siblings, in an order drawn for each rollout. Entries with 1, 2, 3 show three different ones, where there are so many.",
  ),
  field: param(refers({ to: "field" }).default("feedback"), "The field, where `what` is one."),
  template: param(
    template("prompt", "help").default("{prompt}\nA correct answer: {help}\nThe same in other words: "),
    "What the model is asked: `{prompt}` and `{help}`.",
  ),
});

export const teacherContext = z.union([source, form]);
export type TeacherContext = z.output<typeof form>;

export const teacherContextOf = (written: z.output<typeof teacherContext>): TeacherContext =>
  typeof written === "string" ? form.parse({ what: written }) : written;

/** What the contexts of entries are called: by what is in them, numbered where two have the same in different words. */
export function teacherContextNames(
  entries: readonly { readonly shown?: TeacherContext | undefined }[],
): (string | undefined)[] {
  const known = new Map<string, string>();
  const counts = new Map<string, number>();
  return entries.map(({ shown }) => {
    if (shown === undefined) return undefined;
    const key = JSON.stringify(shown);
    const name = known.get(key);
    if (name !== undefined) return name;
    const count = (counts.get(shown.what) ?? 0) + 1;
    counts.set(shown.what, count);
    known.set(key, count === 1 ? shown.what : `${shown.what}-${count}`);
    return known.get(key);
  });
}
