/** What a hole costs that only several answers in one response find: how many recorded responses give several. */
import { formatCount, plural } from "../../../shared/lib/format.ts";
import type { Task } from "../../core/task.ts";
import type { GoldForm } from "./forms/goldForms.ts";

/** Of the recorded responses: where fewer do it, the reward pays for what nobody writes. */
const rare = 1 / 1000;

/** Stands in no text. */
const mark = "\uE000";

/** Whether a response gives different answers, each as the reward wants it written. */
export function hedges(form: GoldForm | undefined, task: Task, response: string): boolean {
  const [before, after] = form?.with(task, mark)?.split(mark) ?? [];
  if (before === undefined || after === undefined) return false;
  const begin = before.slice(before.lastIndexOf("\n") + 1).trim();
  const end = after.split("\n", 1)[0]!.trim();
  const values = begin === "" && end === "" ? bare(response) : formed(response, begin, end);
  return new Set(values.map((value) => value.trim()).filter((value) => value !== "")).size > 1;
}

/** Lines of a word each; a response with others is no list of answers. */
function bare(response: string): readonly string[] {
  const lines = response.split("\n").map((line) => line.trim());
  return lines.some((line) => /\s/.test(line)) ? [] : lines;
}

/** What stands after each beginning, or in each line where there is none, up to the end. */
function formed(response: string, begin: string, end: string): readonly string[] {
  const pieces = begin === "" ? response.split("\n") : response.split(begin).slice(1);
  return pieces.map((text) => text.split(end === "" ? "\n" : end, 1)[0]!);
}

/** What recorded responses say of a hole, as the end of a sentence, and whether hardly one uses it. */
export function useOf({ count, of }: { readonly count: number; readonly of: number }): {
  readonly said: string;
  readonly isRare: boolean;
} {
  if (of === 0) return { said: "", isRare: true };
  const who = `${count === 0 ? "none" : formatCount(count)} of ${plural(of, "recorded answer")}`;
  return { said: `; ${who} ${count > 1 ? "do" : "does"} this`, isRare: count / of < rare };
}
