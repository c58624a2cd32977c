import { z } from "zod";
import { rewardTerm, param } from "../../core/declaration.ts";
import { failure, perRow, value } from "./perRow.ts";

const matches = ["exact", "prefix", "edit", "items"] as const;
type Match = (typeof matches)[number];

/** Smallest number of inserted, removed and replaced characters that make one text the other. */
export function editDistance(a: readonly string[], b: readonly string[]): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  a.forEach((one, i) => {
    const next = [i + 1];
    b.forEach((other, j) =>
      next.push(Math.min(next[j]! + 1, row[j + 1]! + 1, row[j]! + (one === other ? 0 : 1))),
    );
    row = next;
  });
  return row[b.length]!;
}

/** Whether one text begins with the other, at the end of a word. */
function begins(whole: string, part: string): boolean {
  return (
    whole.startsWith(part) &&
    (whole.length === part.length || !/^[\p{L}\p{N}]/u.test(whole.slice(part.length)))
  );
}

/** What is between commas and spaces. */
const itemsOf = (text: string): ReadonlySet<string> =>
  new Set(text.split(/[,，、\s]+/).filter((item) => item !== ""));

export function matched(prediction: string, truth: string, match: Match, least: number): number {
  if (prediction === "") return 0;
  switch (match) {
    case "exact":
      return prediction === truth ? 1 : 0;
    case "prefix":
      // One that continues after the whole segment has predicted it as well.
      if (begins(prediction, truth)) return 1;
      return prediction.split(" ").length >= least && begins(truth, prediction) ? 1 : 0;
    case "edit": {
      const [a, b] = [[...prediction], [...truth]];
      return 1 - editDistance(a, b) / Math.max(a.length, b.length);
    }
    case "items": {
      const [a, b] = [itemsOf(prediction), itemsOf(truth)];
      const both = [...a].filter((item) => b.has(item)).length;
      return a.size + b.size === 0 ? 0 : both / (a.size + b.size - both);
    }
  }
}

export const segmentMatch = rewardTerm({
  name: "segment_match",
  summary: "Whether the predicted text is the actual text.",
  formula:
    "exact: 1[ŷ = y] · prefix: 1[ŷ is a beginning of y of at least `words` words, or begins with y] · edit: 1 − distance(ŷ, y) / max(|ŷ|, |y|) · items: |Ŷ ∩ Y| / |Ŷ ∪ Y|",
  sources: [
    "Reinforcement Learning on Pre-Training Data",
    "PretrainZero: Reinforcement Active Pretraining",
    "Boosting the Generalization and Reasoning of Vision Language Models with Curriculum Reinforcement Learning",
  ],
  status: "approximate",
  judges: "answer",
  range: () => [0, 1],
  computes: () => true,
  params: z.object({
    match: param(
      z.enum(matches).default("prefix"),
      "exact: all of the text; prefix: a beginning of it is enough, where the paper asks a judge model; edit: the share of right characters; items: the share of words, or of parts between commas, that both texts have.",
    ),
    behind: param(
      z.string().default(""),
      "The text before the prediction, e.g. `</think>`; its last occurrence counts. Empty: the whole response is the prediction.",
    ),
    least: param(
      z.number().int().min(1).default(1),
      "For prefix: the fewest words that count as a beginning.",
    ),
    ignore_case: param(z.boolean().default(false), "Ignore case."),
  }),
  create: ({ match, behind, least, ignore_case }) => {
    const plain = (text: string): string => {
      const spaced = text.replace(/\s+/g, " ").trim();
      return ignore_case ? spaced.toLowerCase() : spaced;
    };
    return perRow(({ task, response }) => {
      if (task.answer === undefined)
        return failure(`segment_match needs an answer, and task ${task.id} has none: use a \`corpus\``);
      const at = behind === "" ? 0 : response.lastIndexOf(behind);
      if (at < 0) return value(0);
      return value(matched(plain(response.slice(at + behind.length)), plain(task.answer), match, least));
    });
  },
});
