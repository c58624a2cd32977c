import { z } from "zod";
import { param, rewardTerm } from "../../../core/declaration.ts";
import { refers } from "../../../core/references.ts";
import type { TermValue } from "../../../core/slots/reward.ts";
import { fieldOf, isObject } from "../../../core/templates.ts";
import type { Task } from "../../../core/task.ts";
import { failure, perRow, value } from "../perRow.ts";
import { diffsIn, diffsOf, edited, type Files } from "./edits.ts";
import { similarity } from "./matching.ts";

const params = z.object({
  edits: param(
    z.enum(["search_replace", "unified_diff"]).default("search_replace"),
    "How responses write edits: blocks in fences, `### path`, `<<<<<<< SEARCH`, `=======`, `>>>>>>> REPLACE`; or a unified diff.",
  ),
  files: param(
    refers({ to: "field" }).default("files"),
    "For search_replace: field of the task's data with the files as they are, a map from path to text.",
  ),
  oracle: param(
    refers({ to: "field" }).default("oracle"),
    "Field with what is right: for search_replace a map from path to text of the files as they should become; for unified_diff a diff.",
  ),
  tags: param(
    z
      .tuple([z.string().min(1), z.string().min(1)])
      .nullable()
      .default(["think", "solution"]),
    "Tags of the reasoning and of the edits, each of which occurs once; null: the whole response is read.",
  ),
  invalid: param(
    z.number().default(-1),
    "Reward where the tags, the blocks or the diff cannot be read, or a block's text is not in the file.",
  ),
});
type Params = z.output<typeof params>;

/** The part of a response with edits; undefined: it has not the form. */
function solutionOf(response: string, tags: Params["tags"]): string | undefined {
  if (tags === null) return response;
  const [think, solution] = tags;
  for (const tag of [think, solution])
    for (const mark of [`<${tag}>`, `</${tag}>`]) if (response.split(mark).length !== 2) return undefined;
  const inside = (tag: string): string => response.split(`<${tag}>`)[1]!.split(`</${tag}>`)[0]!.trim();
  return inside(think) === "" ? undefined : inside(solution);
}

function filesOf(task: Task, field: string): Files | undefined {
  const found = fieldOf(task, field);
  if (!isObject(found)) return undefined;
  const entries = Object.entries(found);
  return entries.every((entry): entry is [string, string] => typeof entry[1] === "string")
    ? new Map(entries)
    : undefined;
}

/** Mean over all files that either touches; 0 for one that only one does. */
export function patchScore(predicted: Files, oracle: Files): number {
  const paths = [...new Set([...oracle.keys(), ...predicted.keys()])];
  if (paths.length === 0) return 1;
  const sum = paths.reduce((total, path) => {
    const [one, other] = [predicted.get(path), oracle.get(path)];
    return total + (one === undefined || other === undefined ? 0 : similarity(one, other));
  }, 0);
  return sum / paths.length;
}

function oracleOf(task: Task, { edits, files, oracle }: Params): { before: Files; diffs: Files } | string {
  if (edits === "unified_diff") {
    const text = fieldOf(task, oracle);
    const diffs = typeof text === "string" ? diffsIn(text) : "it is no text";
    return typeof diffs === "string"
      ? `patch_similarity needs a unified diff in the field \`${oracle}\` of task ${task.id}: ${diffs}`
      : { before: new Map(), diffs };
  }
  const [before, after] = [filesOf(task, files), filesOf(task, oracle)];
  if (before === undefined || after === undefined)
    return `patch_similarity needs a map from path to text in the field \`${before === undefined ? files : oracle}\` of task ${task.id}`;
  return { before, diffs: diffsOf(before, after) };
}

export const patchSimilarity = rewardTerm({
  name: "patch_similarity",
  summary: "How like the right edit a response's edit is, as text, file by file.",
  formula:
    "r = mean over touched files of 2M/T (Ratcliff–Obershelp, of the diffs), 0 for a file that one side alone touches; `invalid` where nothing can be read",
  sources: ["SWE-RL: Advancing LLM Reasoning via Reinforcement Learning on Open Software Evolution"],
  judges: "answer",
  range: ({ invalid }) => [Math.min(0, invalid), Math.max(1, invalid)],
  computes: () => true,
  params,
  create: (options) =>
    perRow(({ task, response }): TermValue => {
      const oracle = oracleOf(task, options);
      if (typeof oracle === "string") return failure(oracle);
      const solution = solutionOf(response, options.tags);
      if (solution === undefined) return value(options.invalid);
      if (options.edits === "unified_diff") {
        const diffs = diffsIn(solution);
        return value(typeof diffs === "string" ? options.invalid : patchScore(diffs, oracle.diffs));
      }
      const after = edited(solution, oracle.before);
      if (typeof after === "string") return value(options.invalid);
      return value(patchScore(diffsOf(oracle.before, after), oracle.diffs));
    }),
});
