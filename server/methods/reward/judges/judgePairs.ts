import { z } from "zod";
import { param, rewardTerm } from "../../../core/declaration.ts";
import { refers, template } from "../../../core/references.ts";
import type { RewardContext } from "../../../core/reward.ts";
import type { Batch } from "../../../core/rollouts.ts";
import type { TermValue } from "../../../core/slots/reward.ts";
import { fill, textField } from "../../../core/templates.ts";
import { TextPattern } from "../../../lib/texts/textPattern.ts";
import { isPattern } from "../../../lib/textSpans.ts";
import { failure, value } from "../perRow.ts";
import { tellerOf, tellerParam, type Teller, type Told } from "./teller.ts";

const params = z.object({
  judge: param(tellerParam(), "Who compares: a server (`{ url, model }`) or a model of the run (`{ of }`)."),
  anchor: param(
    refers({ to: "field" }).optional(),
    "Field of the task's data with a fixed answer that every response is compared with; `answer` is the task's answer. Absent: the other responses of the group.",
  ),
  opponents: param(
    z.number().int().min(1).optional(),
    "Without an anchor: with how many of its siblings a response is compared; default: all of them.",
  ),
  swap: param(
    z.boolean().default(true),
    "Ask in both orders, and average: a judge that prefers the first answer then prefers none.",
  ),
  ask: param(
    template("prompt", "first", "second").default(
      "Question: {prompt}\n\nAnswer A: {first}\n\nAnswer B: {second}\n\nWhich answer is better? Think briefly, then end with A, B or tie.",
    ),
    "Template of the question: `{prompt}`, `{first}`, `{second}`.",
  ),
  pattern: param(
    z.string().refine(isPattern, { message: "must be a regular expression" }).default("\\b(A|B|tie)\\b"),
    "Regular expression of the verdict: the last match, its first group. A: the first is better; B: the second; anything else is a tie.",
  ),
});
type Params = z.output<typeof params>;

/** What the first answer wins: 1, 0, or ½; a text: no verdict. */
export function winIn(told: Told, pattern: string): number | string {
  if ("error" in told) return told.error;
  const last = new TextPattern(pattern).all(told.text).at(-1);
  const said = last?.[1] ?? last?.[0];
  if (said === undefined)
    return `the judge gave no verdict that \`pattern\` finds: ${JSON.stringify(told.text.slice(-80))}`;
  return said === "A" ? 1 : said === "B" ? 0 : 0.5;
}

/** A response against a text: a sibling's, or the anchor. */
interface Match {
  readonly row: number;
  /** The sibling, which the same comparison judges too. */
  readonly sibling?: number;
  readonly other: string;
}

function matchesOf(batch: Batch, { anchor, opponents }: Params): Match[] | string {
  if (anchor !== undefined) {
    const texts = batch.records.map(
      ({ task }) => textField(task, anchor) ?? (anchor === "answer" ? task.answer : undefined),
    );
    const missing = texts.indexOf(undefined);
    if (missing >= 0)
      return `judge_pairs needs an answer to compare with in the field \`${anchor}\` of task ${batch.records[missing]!.task.id}`;
    return texts.map((other, row) => ({ row, other: other! }));
  }
  const groups = Array.from({ length: batch.groups }, (): number[] => []);
  batch.group.forEach((group, row) => groups[group]!.push(row));
  return groups.flatMap((rows) =>
    pairsIn(rows, opponents).map(([row, sibling]) => ({
      row,
      sibling,
      other: batch.records[sibling]!.response,
    })),
  );
}

/** Each pair once: with the next siblings around the circle, as many as asked for. */
function pairsIn(rows: readonly number[], opponents: number | undefined): (readonly [number, number])[] {
  const most = Math.min(rows.length - 1, opponents ?? rows.length - 1);
  const pairs = new Map<string, readonly [number, number]>();
  rows.forEach((row, i) => {
    for (let k = 1; k <= most; k++) {
      const sibling = rows[(i + k) % rows.length]!;
      const pair = [Math.min(row, sibling), Math.max(row, sibling)] as const;
      pairs.set(pair.join(), pair);
    }
  });
  return [...pairs.values()];
}

async function compared(
  batch: Batch,
  context: RewardContext,
  options: Params,
  ask: Teller,
): Promise<TermValue[]> {
  const matches = matchesOf(batch, options);
  if (typeof matches === "string") return batch.records.map(() => failure(matches));
  const question = (row: number, first: string, second: string): string =>
    fill(options.ask, { prompt: batch.records[row]!.task.prompt, first, second });
  const own = matches.map(({ row, other }) => question(row, batch.records[row]!.response, other));
  const swapped = options.swap
    ? matches.map(({ row, other }) => question(row, other, batch.records[row]!.response))
    : [];
  const told = (await ask([...own, ...swapped], context)).map((one) => winIn(one, options.pattern));
  const won = batch.records.map((): number[] => []);
  const unknown = new Map<number, string>();
  matches.forEach(({ row, sibling }, i) => {
    const [one, back] = [told[i]!, options.swap ? told[matches.length + i]! : undefined];
    const failed = [one, back].find((verdict) => typeof verdict === "string");
    if (typeof failed === "string" || typeof one !== "number") {
      for (const loser of [row, sibling ?? row]) unknown.set(loser, String(failed));
      return;
    }
    const win = typeof back === "number" ? (one + 1 - back) / 2 : one;
    won[row]!.push(win);
    if (sibling !== undefined) won[sibling]!.push(1 - win);
  });
  return won.map((wins, row) => {
    if (wins.length > 0) return value(wins.reduce((sum, win) => sum + win, 0) / wins.length);
    return failure(unknown.get(row) ?? "there is no other response in the group to compare with");
  });
}

export const judgePairs = rewardTerm({
  name: "judge_pairs",
  summary:
    "The share of comparisons that a response wins by a judge who reads two answers, in both orders: against its siblings, or against a fixed answer.",
  formula: "r = mean_j ½ (p(y ≻ y_j) + 1 − p(y_j ≻ y)), p ∈ {0, ½, 1}",
  sources: [
    "A Unified Pairwise Framework for RLHF: Bridging Generative Reward Modeling and Policy Optimization",
  ],
  judges: "answer",
  range: () => [0, 1],
  params,
  create: (options) => {
    const ask = tellerOf(options.judge);
    return { score: (batch, context) => compared(batch, context, options, ask) };
  },
});
