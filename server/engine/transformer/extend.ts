/** A program of generation: several tokens more in some lanes at once, without choosing any. */
import { perStream, streamNumbers } from "../passes/feeds.ts";
import { take, type Named, type Ops } from "../../core/ops.ts";
import { prefixed, under, type ProgramSpec } from "../devices/runtime.ts";
import { cacheFeeds, float, int, throughLayers, weightFeeds } from "./decode.ts";
import { masks } from "./positions.ts";
import { headWidth, type Shape } from "./weights.ts";

/** Reads tokens into a stream's lanes: the caches as they are afterwards. */
function extendLanes<T>(
  ops: Ops<T>,
  shape: Shape,
  folded: Named<T>,
  rotary: T,
  own: Named<T>,
): Record<string, T> {
  const { heads, kv_heads } = shape;
  const width = headWidth(shape);
  const across = (heads / kv_heads) * width;
  const extents = [1, 1, kv_heads];
  const [current, position, rows] = ops
    .split(take(own, "ints"), extents, 0, "int")
    .map((part) => ops.reshape(part, [-1], "int"));
  const slots = take(own, "slots");
  const some = ops.size(slots, 0, "int");
  const count = ops.dim(take(own, "count"));
  const tokens = ops.size(current!, 0, "int");
  const caches: Record<string, T> = {};
  const write = (name: string, value: T): T => {
    const written = ops.writeRows(take(own, name), rows!, ops.reshape(value, [-1, width]));
    caches[name] = written;
    return ops.gather(ops.reshape(written, [count, kv_heads, -1, width]), slots);
  };
  let mask: ((layer: number) => T) | undefined;
  throughLayers(ops, shape, folded, rotary, { current: current!, position: position! }, (layer, q, k, v) => {
    const keys = write(`k${layer}`, k);
    const values = write(`v${layer}`, v);
    const capacity = ops.size(keys, 2);
    // One row for each token and each query head that shares a key head.
    mask ??= masks(ops, shape, position!, capacity, (row) => {
      const spread = ops.add(
        ops.zeros([tokens, heads / kv_heads, capacity]),
        ops.reshape(row, [tokens, 1, capacity]),
      );
      return ops.reshape(spread, [some, 1, -1, capacity]);
    });
    const byLane = ops.transpose(ops.reshape(q, [some, -1, kv_heads, across]), [0, 2, 1, 3]);
    const scores = ops.batchMatmul(ops.reshape(byLane, [some, kv_heads, -1, width]), keys, false, true);
    const mixed = ops.batchMatmul(ops.softmax(ops.add(scores, mask(layer))), values);
    const byToken = ops.transpose(ops.reshape(mixed, [some, kv_heads, -1, across]), [0, 2, 1, 3]);
    return ops.reshape(byToken, [tokens, heads * width]);
  });
  return caches;
}

/**
 * Tokens of some lanes, read into their caches, which are consumed. A stream's feeds: `ints` `[2 + key heads, lanes ·
 * tokens]`, the tokens, their positions, and the cache rows that these have, token by token; `slots`, which lanes; `count`,
 * how many lanes the caches have. Every lane reads as many tokens; the same one twice changes nothing.
 */
export const extendSpec = (shape: Shape, streams: number): ProgramSpec => ({
  name: "extend",
  feeds: {
    ...weightFeeds(shape),
    rotary: float(3),
    ...perStream(streams, { ints: int(2), slots: int(1), count: int(0), ...cacheFeeds(shape) }),
  },
  build<T>(ops: Ops<T>, feeds: Named<T>) {
    const [folded, rotary] = [under(feeds, "w/"), take(feeds, "rotary")];
    return Object.assign(
      {},
      ...streamNumbers(streams).map((stream) =>
        prefixed(`${stream}/`, extendLanes(ops, shape, folded, rotary, under(feeds, `${stream}/`))),
      ),
    );
  },
});
