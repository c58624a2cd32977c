/** Small models and batches for the engine's tests. */
import { adamwChoice } from "../../../server/methods/optimizer/adamw.ts";
import type { OptimizerChoice } from "../../../server/core/slots/optimizer.ts";
import type { ModelConfig } from "../../../server/core/blocks/models.ts";
import { openLanguageModel, type PolicyOptions } from "../../../server/engine/index.ts";
import type { LanguageModel } from "../../../server/engine/policy.ts";
import { Stream } from "../../../server/engine/random.ts";
import type { Batch } from "../../../server/core/rollouts.ts";
import type {
  Channel,
  DecodeOptions,
  Prompt,
  Sample,
  UpdatePlan,
  Weigh,
} from "../../../server/core/policy.ts";

export const tinyModel = (size: Partial<ModelConfig["size"]> = {}): ModelConfig => ({
  base: "tiny",
  size: { width: 16, layers: 2, heads: 4, kv_heads: 2, hidden: 24, context: 48, tied: true, ...size },
});
export const optimizer = (params: Parameters<typeof adamwChoice>[0] = {}): OptimizerChoice =>
  adamwChoice({ lr: 1e-2, clip_norm: null, ...params });

export const open = (options: Partial<PolicyOptions> = {}): Promise<LanguageModel> =>
  openLanguageModel({
    model: tinyModel(),
    optimizer: optimizer(),
    backend: "native",
    threads: 2,
    seed: 7,
    ...options,
  });

/** Moves every weight away from its beginning, so that gains are not 1 and attention is not uniform. */
export function stir(policy: LanguageModel, size = 0.3): void {
  const random = new Stream("stir");
  const stirred = Object.entries(policy.readWeights()).map(
    ([name, values]) => [name, values.map((value) => value + size * random.normal())] as const,
  );
  policy.writeWeights(Object.fromEntries(stirred));
}

export interface RowSpec {
  readonly context: readonly number[];
  readonly tokens: readonly number[];
}
export function randomRows(lengths: readonly (readonly [number, number])[], vocabulary = 99): RowSpec[] {
  const random = new Stream("rows");
  const draw = (n: number): number[] =>
    Array.from({ length: n }, () => 3 + Math.floor(random.next() * (vocabulary - 3)));
  return lengths.map(([context, tokens]) => ({ context: draw(context), tokens: draw(tokens) }));
}

const offsetsOf = (lists: readonly (readonly number[])[]): Int32Array => {
  const offsets = new Int32Array(lists.length + 1);
  lists.forEach((list, index) => {
    offsets[index + 1] = offsets[index]! + list.length;
  });
  return offsets;
};
export function batchOf(rows: readonly RowSpec[], columns: Batch["columns"] = {}): Batch {
  const tokens = Int32Array.from(rows.flatMap((row) => [...row.tokens]));
  return {
    rows: rows.length,
    offsets: offsetsOf(rows.map((row) => row.tokens)),
    tokens,
    origin: new Uint8Array(tokens.length),
    mask: new Uint8Array(tokens.length).fill(1),
    columns,
    context: {
      offsets: offsetsOf(rows.map((row) => row.context)),
      values: Int32Array.from(rows.flatMap((row) => [...row.context])),
    },
    group: Int32Array.from(rows, (_, index) => index),
    groups: rows.length,
    records: rows.map((_, index) => ({
      task: { id: String(index), source: "test", env: "test", prompt: "", data: {} },
      arm: "test",
      group: String(index),
      index: 0,
      prompt: "",
      response: "",
      finish: "stop",
      source: "self",
      use: "train",
    })),
  };
}

export const plan = (channels: readonly Channel[], more: Partial<UpdatePlan> = {}): UpdatePlan => ({
  channels,
  unit: "sequence",
  ...more,
});
/** Fixed coefficients on channels: loss = Σ c·channel. */
export const weighBy =
  (coefficients: Partial<Record<Channel, Float64Array>>): Weigh =>
  (now) => {
    let loss = 0;
    for (const [channel, column] of Object.entries(coefficients) as [Channel, Float64Array][])
      column.forEach((value, index) => (loss += value * (now[channel]?.[index] ?? 0)));
    return { loss, gradients: coefficients };
  };
/** Negative mean log-likelihood. */
export const supervised: Weigh = (now, batch) => {
  const n = batch.tokens.length;
  const logp = now.logp ?? new Float64Array(n);
  return {
    loss: -logp.reduce((sum, value) => sum + value, 0) / n,
    gradients: { logp: new Float64Array(n).fill(-1 / n) },
  };
};
export function coefficientsOf(n: number, key: string): Float64Array {
  const random = new Stream(key);
  return Float64Array.from({ length: n }, () => random.normal() / n);
}

export async function collect(
  policy: LanguageModel,
  prompts: readonly Prompt[],
  decode: Partial<DecodeOptions> = {},
): Promise<Sample[]> {
  const samples: Sample[] = [];
  for await (const sample of policy.generate(prompts, { max_tokens: 12, temperature: 1, seed: 3, ...decode }))
    samples.push(sample);
  return samples.sort((a, b) => a.index - b.index);
}

export function largestDifference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  if (a.length !== b.length) return Infinity;
  let most = 0;
  for (let i = 0; i < a.length; i++) {
    const difference = Math.abs(a[i]! - b[i]!);
    most = Number.isNaN(difference) ? Infinity : Math.max(most, difference);
  }
  return most;
}

/** Rows of several lengths. */
export const rows = randomRows([
  [5, 6],
  [1, 3],
  [9, 12],
  [2, 1],
]);
export const batch = batchOf(rows);

/** What two policies of equal weights make of `batch`: largest differences by name, and the samples of each. */
export async function compared(
  one: LanguageModel,
  other: LanguageModel,
  channels: readonly Channel[],
): Promise<{
  readonly channels: Readonly<Record<string, number>>;
  readonly gradients: Readonly<Record<string, number>>;
  readonly samples: readonly [readonly Sample[], readonly Sample[]];
}> {
  const ask = { model: "policy", channels };
  const [a, b] = [await one.score(batch, ask), await other.score(batch, ask)];
  const coefficients = Object.fromEntries(
    channels.map((channel) => [channel, coefficientsOf(batch.tokens.length, channel)]),
  );
  const [ours, theirs] = [one, other].map((policy) =>
    policy.gradients(batch, plan(channels), weighBy(coefficients)),
  );
  const prompts = rows.map((row, index) => ({ tokens: Int32Array.from(row.context), key: [index] }));
  return {
    channels: Object.fromEntries(
      channels.map((channel) => [channel, largestDifference(a[channel]!, b[channel]!)]),
    ),
    gradients: Object.fromEntries(
      Object.entries(ours!).map(([name, gradient]) => [name, largestDifference(gradient, theirs![name]!)]),
    ),
    samples: [await collect(one, prompts), await collect(other, prompts)],
  };
}
