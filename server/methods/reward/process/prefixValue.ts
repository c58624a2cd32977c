import { z } from "zod";
import { param, rewardTerm, type MethodContext } from "../../../core/declaration.ts";
import type { Prompt } from "../../../core/policy.ts";
import type { RewardContext } from "../../../core/reward.ts";
import type { Batch } from "../../../core/rollouts.ts";
import { responseText } from "../../../core/rows/ends.ts";
import { batchOfSamples, type SampledRow } from "../../../core/rows/sampledRows.ts";
import type { TermValue } from "../../../core/slots/reward.ts";
import { askedOf } from "../models/readings.ts";
import { failure, none } from "../perRow.ts";
import { atLeast, ofTerm } from "../said.ts";
import { stepsOf } from "./stepScores.ts";

const params = z.object({
  of: ofTerm,
  at_least: atLeast,
  k: param(z.number().int().min(1).default(4), "Continuations of each beginning that is tried."),
  at: param(
    z.enum(["section", "steps"]).default("steps"),
    "section: the response is rewarded with the value at the end of its section `tag`; steps: each step has a value of its own.",
  ),
  tag: param(z.string().min(1).default("plan"), "For section: its tag. A response without it is rewarded 0."),
  search: param(
    z.enum(["every", "binary"]).default("every"),
    "For steps. every: the share of correct continuations after each step; binary: +1 for the steps of the longest beginning that can still be solved, by binary search, and −1 for those after it.",
  ),
  temperature: param(z.number().nonnegative().default(1), "Of the continuations."),
});
type Params = z.output<typeof params>;

/** A beginning of a row: its first tokens. */
interface Beginning {
  readonly row: number;
  readonly tokens: number;
}

type Values = (beginnings: readonly Beginning[]) => Promise<(number | string)[]>;

/** The share of k continuations of each beginning that another term finds correct; a text: that term failed. */
function valuesBy(
  batch: Batch,
  context: RewardContext,
  options: Params,
  { max_tokens, random }: MethodContext,
): Values {
  const policy = context.models.get("policy");
  const seed = random.fork("prefix_value").integer(2 ** 31);
  return async (beginnings) => {
    const drafts = beginnings.flatMap((beginning) =>
      Array.from({ length: options.k }, (_, n) => ({ ...beginning, n })),
    );
    const prompts = drafts.map(({ row, tokens, n }): Prompt => {
      const start = batch.offsets[row]!;
      const { group, index } = batch.records[row]!;
      return {
        tokens: askedOf(batch, row),
        ...(tokens > 0 && { prefix: batch.tokens.slice(start, start + tokens) }),
        max_tokens: Math.max(1, max_tokens - tokens),
        key: ["prefix_value", context.clock.step, group, index, tokens, n],
      };
    });
    const rows: SampledRow[] = [];
    const decode = {
      max_tokens,
      temperature: options.temperature,
      seed,
      ...(context.signal && { signal: context.signal }),
    };
    for await (const sample of policy.generate(prompts, decode)) {
      const { row, n } = drafts[sample.index]!;
      const { tokens: asked, prefix = new Int32Array(0) } = prompts[sample.index]!;
      const response = responseText(Int32Array.from([...prefix, ...sample.tokens]), policy.tokenizer);
      const { task, arm, group } = batch.records[row]!;
      rows[sample.index] = {
        record: {
          task,
          arm,
          group,
          index: n,
          prompt: task.prompt,
          response,
          finish: sample.finish,
          source: "self",
          use: "estimate",
        },
        ...{ sample, context: asked, given: prefix },
      };
    }
    const said = rows.length === 0 ? [] : await context.scores!(options.of, batchOfSamples(rows));
    return beginnings.map((_, i) =>
      shareOf(said.slice(i * options.k, (i + 1) * options.k), options.at_least),
    );
  };
}

function shareOf(said: readonly TermValue[], least: number): number | string {
  const failed = said.find(({ kind }) => kind === "error");
  if (failed?.kind === "error") return failed.message;
  const known = said.flatMap((one) => (one.kind === "value" ? [one.value] : []));
  return known.length === 0
    ? "the term that it reads does not apply"
    : known.filter((one) => one >= least).length / known.length;
}

/** Tokens of a row up to the end of its section; undefined: it has none. */
function sectionEnd(batch: Batch, row: number, tag: string, context: RewardContext): number | undefined {
  const close = `</${tag}>`;
  const start = batch.offsets[row]!;
  const { tokenizer } = context.models.get("policy");
  const at = batch.records[row]!.response.indexOf(close);
  if (at < 0) return undefined;
  const wanted = at + close.length;
  const tokens = batch.tokens.subarray(start, batch.offsets[row + 1]);
  // Text grows with every token: the first beginning that holds the section.
  let [low, high] = [0, tokens.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (tokenizer.decode(tokens.subarray(0, middle)).length >= wanted) high = middle;
    else low = middle + 1;
  }
  return low;
}

async function bySection(
  batch: Batch,
  context: RewardContext,
  { tag }: Params,
  values: Values,
): Promise<TermValue[]> {
  const ends = batch.records.map((_, row) => sectionEnd(batch, row, tag, context));
  const asked = ends.flatMap((tokens, row) => (tokens === undefined ? [] : [{ row, tokens }]));
  const found = await values(asked);
  const results = batch.records.map((): TermValue => ({ kind: "value", value: 0 }));
  asked.forEach(({ row }, i) => {
    const value = found[i]!;
    results[row] = typeof value === "number" ? { kind: "value", value } : failure(value);
  });
  return results;
}

async function everyStep(batch: Batch, values: Values): Promise<TermValue[]> {
  const asked = batch.records.flatMap((_, row) => stepsOf(batch, row).map(([, tokens]) => ({ row, tokens })));
  const found = await values(asked);
  return batch.records.map((_, row) => {
    const own = found.filter((_one, i) => asked[i]!.row === row);
    return byStep(own, batch, row);
  });
}

function byStep(own: readonly (number | string)[], batch: Batch, row: number): TermValue {
  const failed = own.find((one) => typeof one === "string");
  if (failed !== undefined) return failure(String(failed));
  const numbers = own.filter((one) => typeof one === "number");
  if (numbers.length === 0) return none;
  const { steps } = batch.records[row]!;
  return steps === undefined || steps.length === 0
    ? { kind: "value", value: numbers[0]! }
    : { kind: "values", level: "step", values: numbers };
}

/** All rows search at once: a round tries one beginning of each. */
async function longestSolvable(batch: Batch, values: Values): Promise<TermValue[]> {
  const searches = batch.records.map((_, row) => {
    const steps = stepsOf(batch, row);
    return { row, steps, low: 0, high: steps.length, failed: undefined as string | undefined };
  });
  // So many steps are known to be solvable (low), and more than so many not to be (high).
  for (;;) {
    const open = searches.filter(({ low, high, failed }) => low < high && failed === undefined);
    if (open.length === 0) break;
    const middles = open.map(({ low, high }) => (low + high + 1) >> 1);
    const found = await values(
      open.map(({ row, steps }, i) => ({ row, tokens: steps[middles[i]! - 1]![1] })),
    );
    open.forEach((search, i) => {
      const value = found[i]!;
      if (typeof value === "string") search.failed = value;
      else if (value > 0) search.low = middles[i]!;
      else search.high = middles[i]! - 1;
    });
  }
  return searches.map(({ row, steps, low, failed }) =>
    failed === undefined
      ? byStep(
          steps.map((_, k) => (k < low ? 1 : -1)),
          batch,
          row,
        )
      : failure(failed),
  );
}

export const prefixValue = rewardTerm({
  name: "prefix_value",
  summary:
    "What beginnings of a response are worth: the policy continues them, and another term says how many continuations are correct. As a reward of a section such as a plan; or, with `weight: 0`, as labels of steps that `process` learns from.",
  formula:
    "section: r = mean of K continuations · every: r_k = mean of K continuations after step k · binary: r_k = +1 up to the last step from which one of K continuations is correct, −1 after",
  sources: [
    "Plan Then Action:High-Level Planning Guidance Reinforcement Learning for LLM Reasoning",
    "Process Supervision-Guided Policy Optimization for Code Generation",
  ],
  range: ({ at, search }) => (at === "steps" && search === "binary" ? [-1, 1] : [0, 1]),
  judges: "answer",
  reads: ({ of }) => [of],
  params,
  create: (options, outside) => ({
    score: async (batch, context) => {
      // Labels of held-out steps would teach nothing.
      if (options.at === "steps" && batch.records.every(({ use }) => use === "evaluate"))
        return batch.records.map(() => none);
      const values = valuesBy(batch, context, options, outside);
      if (options.at === "section") return bySection(batch, context, options, values);
      return options.search === "every" ? everyStep(batch, values) : longestSolvable(batch, values);
    },
  }),
});
