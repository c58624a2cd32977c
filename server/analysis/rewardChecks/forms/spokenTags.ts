/**
 * Reference answers between the tags that a prompt only speaks of, in their order: "Place your work between <start_working_out> and
 * <end_working_out>. Then, provide your solution between <SOLUTION></SOLUTION>". That shows no format that a term is held against.
 */
import type { StageBody } from "../../../core/config/resolved.ts";
import type { Task } from "../../../core/task.ts";
import { shortWork } from "../format/mismatch.ts";
import type { GoldForm } from "./goldForms.ts";

const tag = /<\/?([A-Za-z][\w-]{0,30})>/g;
const answers = /^(final|your)?[_-]?(answer|solution|result|output|response|conclusion)/i;
/** Characters of a prompt that are read, and different tags of it. */
const [mostText, mostTags] = [20_000, 12];

/** @param shows whether a task's prompt shows a format: that one counts */
export function spokenTags({ rollout }: StageBody, shows: (task: Task) => boolean): GoldForm {
  const write = (task: Task, answer: string | undefined): string | undefined => {
    if (answer === undefined || shows(task)) return undefined;
    const { prompt } = task;
    const text = `${rollout.system ?? ""}\n${prompt}`.slice(0, mostText);
    const named = [...new Set([...text.matchAll(tag)].map(([one]) => one))].slice(0, mostTags);
    const at = named.findLastIndex(
      (one, i) => answers.test(one.slice(1, -1)) && named[i + 1] === one.replace("<", "</"),
    );
    const [open, close] = [named[at], named[at + 1]];
    if (open === undefined || close === undefined) return undefined;
    const [first = "", ...others] = named.slice(0, at);
    return `${first}${first === "" ? "" : shortWork}${others.join("")}\n${open}${answer}${close}`.trimStart();
  };
  return {
    name: "between the tags that the prompt names",
    of: (task) => write(task, task.answer),
    with: write,
  };
}
