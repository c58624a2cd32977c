import { z } from "zod";
import { param, rewardTerm } from "../../../core/declaration.ts";
import { refers } from "../../../core/references.ts";
import { fieldOf } from "../../../core/templates.ts";
import type { Json } from "../../../../shared/lib/json.ts";
import { failure, perRow, value } from "../perRow.ts";
import { lastIn } from "./lastIn.ts";
import { overlaps } from "./overlap.ts";

const params = z.object({
  metric: param(
    z.enum(["chrf", "bleu", "rouge_l", "f1", "em"]).default("chrf"),
    "chrf: chrF2 (translation); bleu: BLEU of the one response; rouge_l: ROUGE-L F1 (summaries); f1, em: F1 of words and exact match of normalised answers (question answering).",
  ),
  field: param(
    refers({ to: "field" }).optional(),
    "Field of the task's data with the reference, a text or a list of texts of which the nearest counts; default: the answer.",
  ),
  tag: param(
    z.string().optional(),
    "Tag of the part that is compared, e.g. `answer`: the last pair counts, and a response without one gets 0. Absent: the whole response.",
  ),
});

const textsOf = (found: Json | undefined): string[] =>
  typeof found === "string"
    ? [found]
    : Array.isArray(found)
      ? found.filter((one: Json): one is string => typeof one === "string")
      : [];

export const textOverlap = rewardTerm({
  name: "text_overlap",
  aliases: ["chrf"],
  summary:
    "How much of the reference text a response has, from 0 to 1, by a metric of translation, summaries or answers.",
  formula:
    "chrf: (1 + β²)PR / (β²P + R), β = 2, over character 1- to 6-grams · bleu: min(1, e^{1 − |y|/|ŷ|}) · (Π p_n)^{1/4} · rouge_l, f1: 2PR / (P + R) · em: 1[ŷ = y]",
  sources: [
    "R1-T1: Fully Incentivizing Translation Capability in LLMs via Reasoning Learning",
    "Search-R1: Training LLMs to Reason and Leverage Search Engines with Reinforcement Learning",
    "sacreBLEU",
    "rouge-score",
  ],
  judges: "answer",
  range: () => [0, 1],
  computes: () => true,
  params,
  create: ({ metric, field, tag }) =>
    perRow(({ task, response }) => {
      const references = textsOf(field === undefined ? task.answer : fieldOf(task, field));
      if (references.length === 0)
        return failure(
          `text_overlap needs ${field === undefined ? "an answer" : `a text in the field \`${field}\``}, and task ${task.id} has none`,
        );
      const said = tag === undefined ? response : lastIn(response, tag);
      if (said === null) return value(0);
      return value(Math.max(...references.map((reference) => overlaps[metric](said, reference))));
    }),
});
