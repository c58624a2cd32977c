import { z } from "zod";
import { UserError } from "../../../../shared/lib/errors.ts";
import type { Json } from "../../../../shared/lib/json.ts";
import { param, rewardTerm } from "../../../core/declaration.ts";
import { readerOf, type Models, type Policy } from "../../../core/policy.ts";
import { refers, template } from "../../../core/references.ts";
import type { Batch } from "../../../core/rollouts.ts";
import type { RewardTerm } from "../../../core/reward.ts";
import type { TermValue } from "../../../core/slots/reward.ts";
import type { Task } from "../../../core/task.ts";
import { fieldOf, fill, isObject } from "../../../core/templates.ts";
import { failure, value } from "../perRow.ts";
import { tokenLikelihoods, type TextReading } from "./readings.ts";

const params = z.object({
  of: param(
    refers({ to: "model", also: ["reference", "policy"] }).default("reference"),
    "The model that classifies: a name in `models`, `reference`, or `policy`.",
  ),
  labels: param(
    z.array(z.string().min(1)).min(2).default([" terrible", " great"]),
    "A word for each class; its first token counts, a space before it included.",
  ),
  examples: param(
    refers({ to: "field" }).default("examples"),
    "Field of the task's data with what is classified: `[{ text, label }]`, the label being one of `labels` or its place, from 0.",
  ),
  ask: param(
    template("text", "response").default("{text} {response}"),
    "What the model reads before the label: `{text}` of the example, `{response}` of the policy.",
  ),
  right: param(z.number().default(200), "λ₂: factor on the gap of an example that is classified rightly."),
  wrong: param(z.number().default(180), "λ₁: factor on the gap of the others."),
});
type Params = z.output<typeof params>;

interface Example {
  readonly text: string;
  readonly label: number;
}

/** The first token of each label, which no other label begins with. */
function firstTokens({ tokenizer }: Policy, labels: readonly string[]): Int32Array[] {
  const firsts = labels.map((label) => tokenizer.encode(label).subarray(0, 1));
  firsts.forEach((first, i) => {
    const same = firsts.findIndex((other) => other[0] === first[0]);
    if (same === i) return;
    const [a, b] = [JSON.stringify(labels[same]), JSON.stringify(labels[i])];
    throw new UserError(`The classifier's tokenizer begins ${a} and ${b} alike`, {
      code: "label-words",
      action: "Choose `labels` that differ in their first token.",
    });
  });
  return firsts;
}

function exampleOf(one: Json, labels: readonly string[]): Example | undefined {
  if (!isObject(one) || typeof one["text"] !== "string") return undefined;
  const { text, label } = one;
  const place = typeof label === "number" ? label : labels.findIndex((name) => isLabel(name, label));
  return labels[place] === undefined ? undefined : { text, label: place };
}
const isLabel = (name: string, label: Json | undefined): boolean =>
  typeof label === "string" && name.trim() === label.trim();

/** What a task has to classify, or what is wrong with it. */
function examplesOf(task: Task, { examples: field, labels }: Params): readonly Example[] | string {
  const data = fieldOf(task, field);
  if (!Array.isArray(data) || data.length === 0)
    return `label_gap needs examples, and task ${task.id} has no list \`${field}\` of { text, label }`;
  const found = data.map((one: Json) => exampleOf(one, labels));
  const bad = found.findIndex((one) => one === undefined);
  return bad < 0
    ? (found as Example[])
    : `example ${bad} of task ${task.id} is not { text, label } with one of the labels ${labels.map((label) => JSON.stringify(label)).join(", ")}`;
}

/** p(label) − max over the others of p, where the labels' probabilities sum to 1. */
export function gapOf(logp: readonly number[], label: number): number {
  const most = Math.max(...logp);
  const weights = logp.map((one) => Math.exp(one - most));
  const sum = weights.reduce((total, one) => total + one, 0);
  return (weights[label]! - Math.max(...weights.filter((_, i) => i !== label))) / sum;
}

interface Classified {
  readonly row: number;
  readonly examples: readonly Example[];
  readonly contexts: readonly (readonly number[])[];
}

/** A row's examples, each as the model reads it, or what is wrong with them. */
function classifiedOf(batch: Batch, row: number, judge: Policy, options: Params): Classified | string {
  const { task, response } = batch.records[row]!;
  const examples = examplesOf(task, options);
  if (typeof examples === "string") return examples;
  const contexts = examples.map(({ text }) => [
    ...(judge.tokenizer.prefix ?? []),
    ...judge.tokenizer.encode(fill(options.ask, { text, response })),
  ]);
  const longest = Math.max(...contexts.map(({ length }) => length));
  return longest < judge.context
    ? { row, examples, contexts }
    : `an example with the response is ${longest} tokens, and the classifier's context is ${judge.context}`;
}

/** The mean of the gaps, each times its factor; the share of examples that are classified rightly beside it. */
function rewardOf(gaps: readonly number[], { right, wrong }: Params): TermValue {
  const sum = gaps.reduce((total, gap) => total + gap * (gap > 0 ? right : wrong), 0);
  const accuracy = gaps.filter((gap) => gap > 0).length / gaps.length;
  return { ...value(sum / gaps.length), components: { accuracy } };
}

async function score(batch: Batch, models: Models, options: Params): Promise<TermValue[]> {
  const judge = readerOf(models, options.of);
  const words = firstTokens(judge, options.labels);
  const results = batch.records.map((_, row) => classifiedOf(batch, row, judge, options));
  const readings = results.flatMap((one): TextReading[] =>
    typeof one === "string"
      ? []
      : one.contexts.flatMap((context) => words.map((text) => ({ row: one.row, context, text }))),
  );
  const logp = (await tokenLikelihoods(readings, batch, models, options.of)).map((one) => one[0]!);
  let at = 0;
  return results.map((one) => {
    if (typeof one === "string") return failure(one);
    const gaps = one.examples.map(({ label }) => gapOf(logp.slice(at, (at += words.length)), label));
    return rewardOf(gaps, options);
  });
}

export const labelGap = rewardTerm({
  name: "label_gap",
  summary:
    "The response is a prompt: with it after each example, a frozen model gives the example's label more probability than any other label, or less.",
  formula:
    "r = mean_i λ·gap_i, gap_i = p(y_i) − max_{y≠y_i} p(y) over the labels, λ = λ₂ if gap_i > 0, else λ₁",
  sources: ["RLPrompt: Optimizing Discrete Text Prompts with Reinforcement Learning"],
  judges: "answer",
  params,
  create: (options): RewardTerm => ({ score: (batch, { models }) => score(batch, models, options) }),
});
