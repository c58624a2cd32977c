/** What programs are fed: names with element types and ranks, in common sets. */
import { foldedPartsNames, type Parts } from "../parts.ts";
import { take, type Named, type Ops } from "../../core/ops.ts";
import { prefixed, under } from "../devices/runtime.ts";

export type Feeds = Record<string, { dtype: "float" | "int"; rank: number }>;
export const float = (rank: number): Feeds[string] => ({ dtype: "float", rank });
export const int = (rank: number): Feeds[string] => ({ dtype: "int", rank });
export const floatFeeds = (ranks: Named<number>): Feeds =>
  Object.fromEntries(Object.entries(ranks).map(([name, rank]) => [name, float(rank)]));
export const extentFeeds = (shapes: Named<readonly number[]>): Feeds =>
  Object.fromEntries(Object.entries(shapes).map(([name, extents]) => [name, float(extents.length)]));

export const matrixFeeds = (prefix: string, names: readonly string[]): Feeds =>
  prefixed(prefix, Object.fromEntries(names.map((name) => [name, float(2)])));
export const foldedFeeds = (parts: Parts): Feeds => matrixFeeds("w/", foldedPartsNames(parts));

/** Feeds of every stream under its number. */
export function perStream(streams: number, feeds: Feeds): Feeds {
  return Object.assign({}, ...Array.from({ length: streams }, (_, stream) => prefixed(`${stream}/`, feeds)));
}
export const streamNumbers = (streams: number): number[] =>
  Array.from({ length: streams }, (_, stream) => stream);

/** What is computed of each stream's own feeds, under its number. */
export function eachStream<T>(
  streams: number,
  feeds: Named<T>,
  compute: (own: Named<T>, stream: number) => Record<string, T>,
): Record<string, T> {
  const results: Record<string, T> = {};
  for (const stream of streamNumbers(streams))
    Object.assign(results, prefixed(`${stream}/`, compute(under(feeds, `${stream}/`), stream)));
  return results;
}

export function sumOverStreams<T>(ops: Ops<T>, gradients: readonly Record<string, T>[]): Record<string, T> {
  const names = Object.keys(gradients[0] ?? {});
  return Object.fromEntries(names.map((name) => [name, ops.addAll(gradients.map((of) => take(of, name)))]));
}
