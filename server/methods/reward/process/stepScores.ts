/** Scores of the steps of responses, by a head of a model or by a judge. */
import { headChannel } from "../../../core/channelNames.ts";
import type { RewardContext } from "../../../core/reward.ts";
import { batchOfTexts } from "../../../core/rows/textRows.ts";
import type { Batch } from "../../../core/rollouts.ts";
import { fill } from "../../../core/templates.ts";
import { askedOf } from "../models/readings.ts";
import { scoreBy } from "../models/lesson.ts";
import { scoreIn, type Scale } from "../judges/scores.ts";
import type { Teller } from "../judges/teller.ts";

/** One score a step of each row; a text: why a row has none. */
export type StepScores = readonly (readonly number[] | string)[];

/** Tokens [start, end) of each step within its row; the whole row where it records no steps. Empty: it has no tokens. */
export function stepsOf({ records, offsets }: Batch, row: number): readonly (readonly [number, number])[] {
  const size = offsets[row + 1]! - offsets[row]!;
  const { steps } = records[row]!;
  if (size === 0) return [];
  return steps === undefined || steps.length === 0
    ? [[0, size]]
    : steps.map(([from, to]) => [from, Math.min(to, size)] as const);
}

/** The batch with each row's steps in reverse order, what lies between them left out. */
function reversed(batch: Batch): {
  readonly batch: Batch;
  readonly steps: readonly (readonly [number, number])[][];
} {
  const steps: [number, number][][] = [];
  const rows = batch.records.map((record, row) => {
    const start = batch.offsets[row]!;
    const own = [...stepsOf(batch, row)].reverse();
    let at = 0;
    steps.push(own.map(([from, to]) => [at, (at += to - from)]));
    const tokens = own.flatMap(([from, to]) => [...batch.tokens.subarray(start + from, start + to)]);
    return { context: askedOf(batch, row), tokens, record };
  });
  return { batch: batchOfTexts(rows), steps };
}

const squashed = (score: number, squash: "none" | "sigmoid"): number =>
  squash === "sigmoid" ? 1 / (1 + Math.exp(-score)) : score;

interface Head {
  readonly model: string;
  readonly head: string;
  readonly squash: "none" | "sigmoid";
  readonly bidirectional: boolean;
}

/** Of a head at the last token of each step; in both directions, the mean of what it says of the steps as they are and in reverse. */
export async function scoresByHead(
  batch: Batch,
  { models }: RewardContext,
  { model, head, squash, bidirectional }: Head,
): Promise<StepScores> {
  const channel = headChannel(head);
  const read = async (
    of: Batch,
    steps: readonly (readonly (readonly [number, number])[])[],
  ): Promise<number[][]> => {
    const values = (await scoreBy(models, model, of, [channel]))[channel]!;
    return steps.map((own, row) => own.map(([, to]) => squashed(values[of.offsets[row]! + to - 1]!, squash)));
  };
  const forward = await read(
    batch,
    batch.records.map((_, row) => stepsOf(batch, row)),
  );
  const turned = bidirectional ? reversed(batch) : undefined;
  const backward = turned && (await read(turned.batch, turned.steps));
  return forward.map((own, row) => {
    const scores = own.map((score, k) => {
      const other = backward?.[row]![own.length - 1 - k];
      return other === undefined ? score : (score + other) / 2;
    });
    const bad = scores.find((score) => !Number.isFinite(score));
    return bad === undefined ? scores : `the score of ${model} is ${bad}`;
  });
}

interface Judging {
  readonly ask: string;
  readonly scale: Scale;
  readonly bidirectional: boolean;
}

/** Of a judge who reads a response up to each step. */
export async function scoresByJudge(
  batch: Batch,
  context: RewardContext,
  teller: Teller,
  { ask, scale, bidirectional }: Judging,
): Promise<StepScores> {
  const { decode } = context.tokenizer;
  const questions: { readonly row: number; readonly text: string }[] = [];
  batch.records.forEach(({ task }, row) => {
    const start = batch.offsets[row]!;
    const texts = stepsOf(batch, row).map(([from, to]) =>
      decode.call(context.tokenizer, batch.tokens.subarray(start + from, start + to)),
    );
    for (const order of bidirectional ? [false, true] : [false])
      texts.forEach((step, k) => {
        const read = order ? texts.slice(k).reverse() : texts.slice(0, k + 1);
        const words = { prompt: task.prompt, steps: read.join(""), step, answer: task.answer ?? "" };
        questions.push({
          row,
          text: fill(ask, { ...words, low: String(scale.low), high: String(scale.high) }),
        });
      });
  });
  const told = await teller(
    questions.map(({ text }) => text),
    context,
  );
  const byRow = batch.records.map((): (number | string)[] => []);
  questions.forEach(({ row }, i) => byRow[row]!.push(scoreIn(told[i]!, scale)));
  return byRow.map((scores) => joinedScores(scores, bidirectional));
}

function joinedScores(
  scores: readonly (number | string)[],
  bidirectional: boolean,
): readonly number[] | string {
  const numbers = scores.filter((score) => typeof score === "number");
  if (numbers.length < scores.length) return String(scores.find((score) => typeof score === "string"));
  if (!bidirectional) return numbers;
  const half = numbers.length / 2;
  return numbers.slice(0, half).map((score, k) => (score + numbers[half + k]!) / 2);
}
