/** Channels of a batch's tokens under a set of weights, and the feeds that scoring and training share. */
import { UserError } from "../../shared/errors.ts";
import type { Batch, Channel } from "../seams.ts";
import { microRows, type MicroBatch } from "./layout.ts";
import type { Programs } from "./programs.ts";
import { exactFloats, freeAll, take, type DeviceTensor, type Tensors } from "./runtime.ts";
import { detailChannels, type Detail } from "./transformer/head.ts";

export type OwnChannel = "logp" | "entropy" | "logsumexp";
const own: readonly string[] = ["logp", "entropy", "logsumexp"];
export const isOwnChannel = (channel: Channel): channel is OwnChannel => own.includes(channel);

/** An error for channels that this engine does not compute. */
export function unsupportedChannel(channel: Channel): UserError {
  return new UserError(`The channel ${channel} is not computed by this engine yet.`, {
    code: "channel-unsupported",
    action: "Use an objective or a KL estimator that needs only logp, entropy, logsumexp or logp:<model>.",
  });
}

export const detailOf = (channels: Iterable<Channel>): Detail =>
  [...channels].some((channel) => channel === "entropy" || channel === "logsumexp") ? "full" : "plain";

/** ids and targets of one run's micro-batches. */
export function rowFeeds(programs: Programs, run: readonly MicroBatch[]): Record<string, DeviceTensor> {
  const feeds: Record<string, DeviceTensor> = {};
  run.forEach((micro, stream) => {
    feeds[`${stream}/ids`] = programs.runtime.upload(micro.ids, [microRows(micro), micro.length]);
    feeds[`${stream}/targets`] = programs.runtime.upload(micro.targets, [micro.targets.length]);
  });
  return feeds;
}

export type Columns = Record<OwnChannel, Float64Array>;
/** Columns of NaN: where nothing was computed there is no value. */
export function emptyColumns(batch: Batch): Columns {
  const column = (): Float64Array => new Float64Array(batch.tokens.length).fill(NaN);
  return { logp: column(), entropy: column(), logsumexp: column() };
}

/** Copies a run's channels from the rectangles to the batch's columns. */
export function readChannels(
  results: Tensors,
  run: readonly MicroBatch[],
  detail: Detail,
  columns: Columns,
): void {
  run.forEach((micro, stream) => {
    if (micro.rows.length === 0) return;
    const values = exactFloats(take(results, `${stream}/channels`));
    detailChannels[detail].forEach((channel, index) => {
      scatter(values.subarray(index * micro.targets.length), micro, columns[channel]);
    });
  });
}
function scatter(values: Float32Array | Float64Array, micro: MicroBatch, column: Float64Array): void {
  micro.rows.forEach((row, index) => {
    const start = index * micro.length + row.context - 1;
    for (let i = row.context; i < row.tokens.length; i++)
      column[row.column + i - row.context] = values[start + i - row.context] ?? NaN;
  });
}

/** Channels of every token of the rows in `runs`. */
export function scoreRuns(
  programs: Programs,
  weights: Tensors,
  rotary: DeviceTensor,
  runs: readonly (readonly MicroBatch[])[],
  detail: Detail,
  columns: Columns,
): void {
  const program = programs.score(detail);
  for (const run of runs) {
    const feeds = rowFeeds(programs, run);
    try {
      const results = program.run({ ...weights, rotary, ...feeds });
      readChannels(results, run, detail, columns);
      freeAll(results);
    } finally {
      freeAll(feeds);
    }
  }
}
