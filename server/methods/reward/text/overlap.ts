/** How much two texts have in common, by the metrics of translation, summaries and question answering. */
import { ngramCounts, overlapOf, wordsOf } from "./ngrams.ts";

/** chrF2 of one sentence, from 0 to 1: character n-grams of 1 to 6, spaces left out, recall weighed β = 2 (sacreBLEU). */
export function chrf(hypothesis: string, reference: string): number {
  const [one, other] = [hypothesis, reference].map((text) => [...text.replace(/\s+/g, "")]);
  let [precision, recall, orders] = [0, 0, 0];
  for (let n = 1; n <= 6; n++) {
    const { common, first, second } = overlapOf(ngramCounts(one!, n), ngramCounts(other!, n));
    if (first === 0 || second === 0) continue;
    precision += common / first;
    recall += common / second;
    orders += 1;
  }
  if (orders === 0 || precision + recall === 0) return 0;
  const [p, r] = [precision / orders, recall / orders];
  return (5 * p * r) / (4 * p + r);
}

/** Words and punctuation as mteval-v13a cuts them: the tokenizer that published BLEU scores have. */
export function tokens13a(text: string): string[] {
  const plain = text
    .replaceAll("<skipped>", "")
    .replaceAll("-\n", "")
    .replaceAll("\n", " ")
    .replaceAll("&quot;", '"')
    .replaceAll("&amp;", "&")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">");
  return wordsOf(
    ` ${plain} `
      .replace(/([{-~[-` -&(-+:-@/])/g, " $1 ")
      .replace(/([^0-9])([.,])/g, "$1 $2 ")
      .replace(/([.,])([^0-9])/g, " $1 $2")
      .replace(/([0-9])(-)/g, "$1 $2 "),
  );
}

/** BLEU of one sentence, from 0 to 1, with 13a tokens: orders of up to 4 that it is long enough for; 0 counts are halved in turn. */
export function bleu(hypothesis: string, reference: string): number {
  const [one, other] = [tokens13a(hypothesis), tokens13a(reference)];
  if (one.length === 0) return 0;
  let [sum, orders, smooth] = [0, 0, 1];
  for (let n = 1; n <= 4 && n <= one.length; n++) {
    const { common, first } = overlapOf(ngramCounts(one, n), ngramCounts(other, n));
    if (n === 1 && common === 0) return 0;
    if (common === 0) smooth *= 2;
    sum += Math.log((common === 0 ? 1 / smooth : common) / first);
    orders += 1;
  }
  const brevity = one.length < other.length ? Math.exp(1 - other.length / one.length) : 1;
  return brevity * Math.exp(sum / orders);
}

/** ROUGE-L F1 over lower-case runs of ASCII letters and digits, without stemming (rouge-score). */
export function rougeL(hypothesis: string, reference: string): number {
  const [one, other] = [hypothesis, reference].map((text) =>
    wordsOf(text.toLowerCase().replace(/[^a-z0-9]+/g, " ")),
  ) as [string[], string[]];
  const common = commonLength(one, other);
  if (common === 0) return 0;
  const [precision, recall] = [common / one.length, common / other.length];
  return (2 * precision * recall) / (precision + recall);
}

/** Length of the longest common subsequence. */
function commonLength(one: readonly string[], other: readonly string[]): number {
  let row = new Int32Array(other.length + 1);
  for (const word of one) {
    const next = new Int32Array(other.length + 1);
    other.forEach((own, j) => (next[j + 1] = word === own ? row[j]! + 1 : Math.max(row[j + 1]!, next[j]!)));
    row = next;
  }
  return row[other.length]!;
}

/** Lower case, without ASCII punctuation, the articles a, an, the, and white space beyond one (SQuAD's evaluation). */
export const normalAnswer = (text: string): string =>
  wordsOf(
    text
      .toLowerCase()
      .replace(/[!-/:-@[-`{-~]/g, "")
      .replace(/\b(?:a|an|the)\b/g, " "),
  ).join(" ");

export const exactAnswer = (hypothesis: string, reference: string): number =>
  normalAnswer(hypothesis) === normalAnswer(reference) ? 1 : 0;

/** F1 of the words of both answers (SQuAD). */
export function wordF1(hypothesis: string, reference: string): number {
  const [one, other] = [wordsOf(normalAnswer(hypothesis)), wordsOf(normalAnswer(reference))];
  if (one.length === 0 || other.length === 0) return one.length === other.length ? 1 : 0;
  const { common } = overlapOf(ngramCounts(one, 1), ngramCounts(other, 1));
  return (2 * common) / (one.length + other.length);
}

export const overlaps = { chrf, bleu, rouge_l: rougeL, f1: wordF1, em: exactAnswer } as const;
export type Overlap = keyof typeof overlaps;
