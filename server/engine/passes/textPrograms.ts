/** Programs that read whole texts: from their tokens' final states to one vector a text. */
import type { Parts } from "../parts.ts";
import { eachStream, float, perStream } from "./feeds.ts";
import { take, type Named, type Ops } from "../../core/ops.ts";
import type { ProgramSpec } from "../devices/runtime.ts";

/** A stream's final states `y` `[rows · length, width]` and `shares` `[rows, 1, length]` → their weighted sums, `[rows, width]`. */
function pooledOf<T>(ops: Ops<T>, { shape: { width } }: Parts, own: Named<T>): T {
  const shares = take(own, "shares");
  const [rows, length] = [ops.size(shares, 0, "float"), ops.size(shares, 2, "float")];
  const sums = ops.batchMatmul(shares, ops.reshape(take(own, "y"), [rows, length, width]));
  return ops.reshape(sums, [rows, width]);
}

/** `pooled` `[rows, width]`. */
export const poolSpec = (parts: Parts, streams: number): ProgramSpec => ({
  name: "pool",
  feeds: perStream(streams, { y: float(2), shares: float(3) }),
  crossing: ["shares", "pooled"],
  build: (ops, feeds) => eachStream(streams, feeds, (own) => ({ pooled: pooledOf(ops, parts, own) })),
});

/** `logits` `[rows, vocabulary]` of what comes after the token that `shares` picks. */
export const nextSpec = (parts: Parts, streams: number): ProgramSpec => ({
  name: "next",
  feeds: { head: float(2), ...perStream(streams, { y: float(2), shares: float(3) }) },
  crossing: ["shares", "logits"],
  build: (ops, feeds) =>
    eachStream(streams, feeds, (own) => ({
      logits: ops.matmul(pooledOf(ops, parts, own), take(feeds, "head"), false, true),
    })),
});
