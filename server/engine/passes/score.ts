/** Channels of a batch's tokens: which there are, their columns, and what programs are fed of a run's rows. */
import { UserError } from "../../../shared/lib/errors.ts";
import type { Batch } from "../../core/rollouts.ts";
import type { Channel } from "../../core/policy.ts";
import { microRows, roundUp, type MicroBatch } from "./layout.ts";
import { wordHeads, type Parts } from "../parts.ts";
import { freeAll, type DeviceTensor, type Runtime } from "../devices/runtime.ts";
import { parseChannel } from "../transformer/head.ts";

export type Run = readonly MicroBatch[];
/** Values per token by channel. */
export type ScoreColumns = Partial<Record<Channel, Float64Array>>;

/** Whether a channel is one of the model's own: not another model's logp. */
export const isOwnChannel = (channel: Channel): boolean => parseChannel(channel)?.kind !== "logp_of";
/** The other models whose states a channel needs. */
export const modelsOf = (channels: readonly Channel[]): string[] => [
  ...new Set(
    channels.flatMap((channel) => {
      const parsed = parseChannel(channel);
      return parsed?.kind === "divergence" || parsed?.kind === "greedy_of" ? [parsed.model] : [];
    }),
  ),
];

/** How many outputs for every word of the vocabulary the channels are made of: logits, and heads of words. */
export const widthOf = (channels: readonly Channel[], words: ReadonlySet<string>): number =>
  new Set(
    channels.flatMap((channel) => {
      const parsed = parseChannel(channel);
      if (parsed?.kind !== "head") return ["logits"];
      return words.has(parsed.head) ? [`head ${parsed.head}`] : [];
    }),
  ).size;

/** @throws UserError for a word that is no channel, a head that the model has not, or more words than there are. */
export function checkChannel(
  channel: Channel,
  { heads, shape: { vocabulary } }: Pick<Parts, "heads" | "shape">,
): void {
  const parsed = parseChannel(channel);
  if (parsed === undefined)
    throw new UserError(`${channel} is not a channel of a language model.`, {
      code: "channel-unknown",
      action:
        "Channels are logp, entropy, logsumexp, mean_logp, sum_pi_squared, greedy, head:<name>, head:<name>:logp, logp:<model>, greedy:<model>, kl:<model>:forward, kl:<model>:reverse and jsd:<model>:<β>, with :<k> appended for k words only and :t<temperature> for another temperature.",
    });
  if (parsed.kind === "divergence" && (parsed.top ?? 0) > vocabulary)
    throw new UserError(`${channel} asks for ${parsed.top} words of a vocabulary of ${vocabulary}.`, {
      code: "channel-top",
      action: "Lower the KL estimator's top_k, or leave it out.",
    });
  if (parsed.kind !== "head") return;
  const names = heads.map(({ name }) => name);
  if (!names.includes(parsed.head))
    throw new UserError(`The model has no head ${parsed.head}, which the channel ${channel} reads.`, {
      code: "head-unknown",
      action: `Add it to the model: model.value_heads: [${[...names, parsed.head].join(", ")}].`,
    });
  if (parsed.logp && !wordHeads({ heads }).has(parsed.head))
    throw new UserError(
      `The head ${parsed.head} has one value, but the channel ${channel} reads one for every word.`,
      {
        code: "head-words",
        action: `Give it one for every word: { name: ${parsed.head}, words: true } in model.value_heads.`,
      },
    );
}

/** Columns of NaN: where nothing was computed there is no value. */
export const emptyColumns = (batch: Batch, channels: readonly Channel[]): ScoreColumns =>
  Object.fromEntries(channels.map((channel) => [channel, new Float64Array(batch.tokens.length).fill(NaN)]));

// ───────────────────────────────────────────────────────────────── tokens that are scored

/** The scored tokens of one micro-batch: position in the rectangle, column in the batch, and the token itself. */
export interface Selection {
  readonly positions: Int32Array;
  readonly columns: Int32Array;
  readonly targets: Int32Array;
  /** Positions of the same tokens in the rectangle of a model that reads them after other contexts, by its name. */
  readonly read?: Readonly<Record<string, Int32Array>>;
}
export function selectionOf(micro: MicroBatch, wanted?: (column: number) => boolean): Selection {
  const positions: number[] = [];
  const columns: number[] = [];
  micro.rows.forEach((row, index) => {
    for (let t = row.context; t < row.tokens.length; t++) {
      const column = row.column + t - row.context;
      if (wanted !== undefined && !wanted(column)) continue;
      positions.push(index * micro.length + t - 1);
      columns.push(column);
    }
  });
  return {
    positions: Int32Array.from(positions),
    columns: Int32Array.from(columns),
    targets: Int32Array.from(positions, (position) => micro.targets[position]!),
  };
}
/** Tokens `from … to` of a selection. */
export const slice = (
  { positions, columns, targets, read = {} }: Selection,
  from: number,
  to: number,
): Selection => ({
  positions: positions.subarray(from, to),
  columns: columns.subarray(from, to),
  targets: targets.subarray(from, to),
  read: Object.fromEntries(
    Object.entries(read).map(([model, own]) => [model, own.subarray(from, to)] as const),
  ),
});

/** A round number of entries with at least one to spare: that one has no coefficient. */
function paddedCount(tokens: number): number {
  return roundUp(tokens + 1, tokens < 64 ? 8 : 64);
}
function paddedTo(values: Int32Array, count: number): Int32Array {
  const padded = new Int32Array(count);
  padded.set(values);
  return padded;
}

/** ids of one run's micro-batches. */
export function idFeeds(runtime: Runtime, run: Run): Record<string, DeviceTensor> {
  return Object.fromEntries(
    run.map((micro, stream) => [
      `${stream}/ids`,
      runtime.upload(micro.ids, [microRows(micro), micro.length]),
    ]),
  );
}
/** Which tokens are scored against what. */
export function selectionFeeds(
  runtime: Runtime,
  selections: readonly Selection[],
): Record<string, DeviceTensor> {
  const feeds: Record<string, DeviceTensor> = {};
  selections.forEach(({ positions, targets, read = {} }, stream) => {
    const count = paddedCount(positions.length);
    feeds[`${stream}/scored`] = runtime.upload(paddedTo(positions, count), [count]);
    feeds[`${stream}/targets`] = runtime.upload(paddedTo(targets, count), [count]);
    for (const [model, own] of Object.entries(read))
      feeds[`${stream}/scored/${model}`] = runtime.upload(paddedTo(own, count), [count]);
  });
  return feeds;
}
/** Coefficients of the scored tokens, and where in the rectangle their gradients go. */
export function weighFeeds(
  runtime: Runtime,
  run: Run,
  selections: readonly Selection[],
  channels: readonly Channel[],
  gradients: ScoreColumns,
): Record<string, DeviceTensor> {
  const feeds: Record<string, DeviceTensor> = {};
  selections.forEach(({ positions, columns }, stream) => {
    const count = paddedCount(positions.length);
    const place = new Int32Array(run[stream]!.ids.length).fill(count - 1);
    positions.forEach((position, index) => (place[position] = index));
    const values = new Float32Array(count * channels.length);
    channels.forEach((channel, offset) => {
      const column = gradients[channel];
      if (column === undefined) return;
      columns.forEach((at, index) => (values[index * channels.length + offset] = column[at] ?? 0));
    });
    feeds[`${stream}/place`] = runtime.upload(place, [place.length]);
    feeds[`${stream}/coefficients`] = runtime.upload(values, [count, channels.length]);
  });
  return feeds;
}

/** Copies what a program said of the selected tokens to the batch's columns, and frees it. */
export function readChannels(
  results: Record<string, DeviceTensor>,
  selections: readonly Selection[],
  channels: readonly Channel[],
  into: ScoreColumns,
): void {
  selections.forEach(({ columns }, stream) => {
    const tensor = results[`${stream}/channels`];
    if (tensor === undefined) throw new Error("internal: a program returned no channels");
    const values = columns.length === 0 ? undefined : tensor.read();
    tensor.free();
    if (values === undefined) return;
    const count = values.length / channels.length;
    channels.forEach((channel, offset) => {
      const column = into[channel];
      if (column !== undefined)
        columns.forEach((at, index) => (column[at] = values[offset * count + index]!));
    });
  });
}

/** Frees what a step made, whether it succeeded or not. */
export function using<R>(tensors: Record<string, DeviceTensor>, use: () => R): R {
  try {
    return use();
  } finally {
    freeAll(tensors);
  }
}
