import { z } from "zod";
import { param, rewardTerm } from "../../../core/declaration.ts";
import type { Batch } from "../../../core/rollouts.ts";
import type { TermValue } from "../../../core/slots/reward.ts";
import { isPattern } from "../../../lib/textSpans.ts";
import { TextPattern } from "../../../lib/texts/textPattern.ts";
import { value } from "../perRow.ts";
import { atLeast, numbersOf, ofTerm } from "../said.ts";

const params = z.object({
  of: ofTerm,
  at_least: atLeast,
  refusal: param(
    z
      .string()
      .refine(isPattern, { message: "must be a regular expression" })
      .default("\\bI (?:do not|don't) know\\b|\\bI(?: am|'m) not sure\\b"),
    "Regular expression of a refusal, in any case. A response that holds it refuses.",
  ),
  known: param(
    z.number().min(0).max(1).default(0.5),
    "A prompt is known where at least this share of the group's responses is correct.",
  ),
  correct: param(z.number().default(1), "Reward of a correct answer."),
  refuse_known: param(z.number().default(0), "Reward of a refusal where the prompt is known."),
  refuse_unknown: param(z.number().default(1), "Reward of a refusal where the prompt is not known."),
  wrong: param(z.number().default(-1), "Reward of a wrong answer."),
});
type Params = z.output<typeof params>;

/** Share of correct responses of each group; NaN where the correctness of none is known. */
function accuracies(right: readonly (boolean | undefined)[], { group, groups }: Batch): Float64Array {
  const [sum, count] = [new Float64Array(groups), new Float64Array(groups)];
  right.forEach((one, row) => {
    if (one === undefined) return;
    count[group[row]!]! += 1;
    sum[group[row]!]! += one ? 1 : 0;
  });
  return sum.map((all, i) => all / count[i]!);
}

function rewardOf(right: boolean, refused: boolean, known: boolean, options: Params): number {
  if (refused) return known ? options.refuse_known : options.refuse_unknown;
  return right ? options.correct : options.wrong;
}

export const abstain = rewardTerm({
  name: "abstain",
  summary:
    "A refusal is better than a wrong answer, and worse than a correct one where the group shows that the prompt is known.",
  formula: "known prompt: correct > refusal > wrong · unknown prompt: refusal > wrong",
  sources: [
    "Rejection Improves Reliability: Training LLMs to Refuse Unknown Questions Using RL from Knowledge Feedback",
  ],
  status: "approximate",
  needs: ["siblings"],
  judges: "answer",
  range: ({ correct, refuse_known, refuse_unknown, wrong }) => {
    const all = [correct, refuse_known, refuse_unknown, wrong];
    return [Math.min(...all), Math.max(...all)];
  },
  reads: ({ of }) => [of],
  computes: () => true,
  params,
  create: (options) => {
    const refusal = new TextPattern(options.refusal, "i");
    return {
      score: (batch, context) => {
        const read = numbersOf(context, options.of);
        const refused = batch.records.map(({ response }) => refusal.test(response) === true);
        const right = read.map((said, row) =>
          typeof said === "number" ? said >= options.at_least && !refused[row]! : undefined,
        );
        const accuracy = accuracies(right, batch);
        const scored = read.map((said, row): TermValue => {
          if (typeof said !== "number") return said;
          const known = accuracy[batch.group[row]!]! >= options.known;
          const components = {
            refused: Number(refused[row]!),
            correct: Number(right[row]!),
            truthful: Number(right[row]! || refused[row]!),
          };
          return { ...value(rewardOf(right[row]!, refused[row]!, known, options)), components };
        });
        return Promise.resolve(scored);
      },
    };
  },
});
