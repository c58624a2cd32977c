import { z } from "zod";
import { param, rewardTerm, type MethodContext } from "../../../core/declaration.ts";
import { readerOf } from "../../../core/policy.ts";
import { refers } from "../../../core/references.ts";
import type { RewardContext } from "../../../core/reward.ts";
import type { Batch } from "../../../core/rollouts.ts";
import { lengthOfRow } from "../../../core/rows/batch.ts";
import { responseText, withoutEnd } from "../../../core/rows/ends.ts";
import { batchOfSamples, type SampledRow } from "../../../core/rows/sampledRows.ts";
import type { TermValue } from "../../../core/slots/reward.ts";
import { fieldOf } from "../../../core/templates.ts";
import type { Task } from "../../../core/task.ts";
import { askedOf } from "./readings.ts";
import { failure, value } from "../perRow.ts";
import { atLeast, numbersOf, ofTerm } from "../said.ts";

const params = z.object({
  of: ofTerm,
  at_least: atLeast,
  lambda: param(z.number().nonnegative().default(5), "λ: what being righter than the reference counts."),
  length: param(
    refers({ to: "field" }).optional(),
    "Field of the task's data with the reference's mean length, in tokens; absent: `model` is sampled.",
  ),
  accuracy: param(
    refers({ to: "field" }).optional(),
    "Field with the reference's share of correct answers; absent: `model` is sampled.",
  ),
  model: param(
    refers({ to: "model", also: ["reference"] }).default("reference"),
    "The reference whose answers are sampled, once a task.",
  ),
  k: param(
    z.number().int().min(1).default(16),
    "K: answers that are sampled of the reference for each task.",
  ),
  temperature: param(z.number().nonnegative().default(1), "Of these answers."),
});
type Params = z.output<typeof params>;

/** What the reference does on a task; a text: why that is not known. */
type Statistics = { readonly length: number; readonly accuracy: number } | string;

function storedOf(task: Task, { length, accuracy }: Params): Statistics | undefined {
  if (length === undefined || accuracy === undefined) return undefined;
  const [tokens, share] = [fieldOf(task, length), fieldOf(task, accuracy)];
  return typeof tokens === "number" && typeof share === "number"
    ? { length: tokens, accuracy: share }
    : `length_vs_reference needs numbers in the fields \`${length}\` and \`${accuracy}\` of task ${task.id}`;
}

/** Samples of the reference for the tasks of some rows, task after task. */
async function sampled(
  batch: Batch,
  rows: readonly number[],
  { models, signal }: RewardContext,
  { model, k, temperature }: Params,
  { max_tokens, random }: MethodContext,
): Promise<Batch> {
  const policy = readerOf(models, model);
  const asked = rows.flatMap((row) => Array.from({ length: k }, (_, n) => ({ row, n })));
  const prompts = asked.map(({ row, n }) => ({
    tokens: askedOf(batch, row),
    key: ["reference_length", batch.records[row]!.task.id, n],
  }));
  const made: SampledRow[] = [];
  const seed = random.fork("reference_length").integer(2 ** 31);
  const weights = models.names.includes(model) ? {} : { model };
  for await (const sample of policy.generate(prompts, {
    ...{ max_tokens, temperature, seed },
    ...weights,
    ...(signal && { signal }),
  })) {
    const { row, n } = asked[sample.index]!;
    const { task, arm } = batch.records[row]!;
    const response = responseText(sample.tokens, policy.tokenizer);
    made[sample.index] = {
      record: {
        ...{ task, arm, group: `reference ${task.id}`, index: n, prompt: task.prompt, response },
        ...{ finish: sample.finish, source: "self" as const, use: "estimate" as const },
      },
      sample: { ...sample, tokens: withoutEnd(sample.tokens, policy.tokenizer) },
      context: prompts[sample.index]!.tokens,
    };
  }
  return batchOfSamples(made);
}

function statisticsOf(
  batch: Batch,
  from: number,
  said: readonly TermValue[],
  { k, at_least }: Params,
): Statistics {
  const failed = said.find(({ kind }) => kind === "error");
  if (failed?.kind === "error") return `on an answer of the reference: ${failed.message}`;
  const right = said.filter((one) => one.kind === "value" && one.value >= at_least).length;
  let length = 0;
  for (let row = from; row < from + k; row++) length += Math.max(1, lengthOfRow(batch, row));
  return { length: length / k, accuracy: right / k };
}

/** Remembers what it has sampled: the reference stays as it is. */
class References {
  private readonly known = new Map<string, Statistics>();

  constructor(
    private readonly options: Params,
    private readonly outside: MethodContext,
  ) {}

  async of(batch: Batch, context: RewardContext): Promise<Statistics[]> {
    const { options, outside, known } = this;
    const firsts = new Map<string, number>();
    batch.records.forEach(({ task }, row) => {
      if (known.has(task.id) || firsts.has(task.id)) return;
      const stored = storedOf(task, options);
      if (stored === undefined) firsts.set(task.id, row);
      else known.set(task.id, stored);
    });
    if (firsts.size > 0) {
      const samples = await sampled(batch, [...firsts.values()], context, options, outside);
      const said = await context.scores!(options.of, samples);
      [...firsts.keys()].forEach((id, i) => {
        const own = said.slice(i * options.k, (i + 1) * options.k);
        known.set(id, statisticsOf(samples, i * options.k, own, options));
      });
    }
    return batch.records.map(({ task }) => known.get(task.id)!);
  }
}

export const lengthVsReference = rewardTerm({
  name: "length_vs_reference",
  aliases: ["length_harmonizing"],
  summary:
    "How much shorter, and how much righter, a response is than a reference's answers to the same task: sampled once a task, or stored in its data.",
  formula: "r = mean_ref |y_ref| / |y| − 1 + λ (1[c] − mean_ref 1[c_ref])",
  sources: ["O1-Pruner: Length-Harmonizing Fine-Tuning for O1-Like Reasoning Pruning"],
  judges: "answer",
  reads: ({ of }) => [of],
  params,
  create: (options, outside) => {
    const references = new References(options, outside);
    return {
      score: async (batch, context) => {
        const read = numbersOf(context, options.of);
        const found = await references.of(batch, context);
        return read.map((said, row): TermValue => {
          if (typeof said !== "number") return said;
          const reference = found[row]!;
          if (typeof reference === "string") return failure(reference);
          const correct = said >= options.at_least ? 1 : 0;
          const shorter = reference.length / Math.max(1, lengthOfRow(batch, row)) - 1;
          return {
            ...value(shorter + options.lambda * (correct - reference.accuracy)),
            components: { shorter, righter: correct - reference.accuracy },
          };
        });
      },
    };
  },
});
