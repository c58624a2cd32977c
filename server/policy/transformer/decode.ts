/** Programs of generation: prefill of prompts, one decoding step over a KV cache, and moving lanes between caches. */
import type { Ops } from "../ops.ts";
import { perStream, streamNumbers } from "../programs.ts";
import { take, prefixed, under, type Named, type ProgramSpec } from "../runtime.ts";
import { foldedNames } from "./fold.ts";
import { forward, rms } from "./forward.ts";
import { entropy, exponentials } from "./head.ts";
import { headWidth, type Shape } from "./weights.ts";

/**
 * How the next token is chosen. `unit`: from softmax(logits); `tempered`: from softmax(logits / T); `greedy`: the
 * largest; `logits`: not here, the caller chooses.
 */
export type Choosing = "unit" | "tempered" | "greedy" | "logits";

const float = (rank: number) => ({ dtype: "float" as const, rank });
const int = (rank: number) => ({ dtype: "int" as const, rank });
const weightFeeds = (shape: Shape) =>
  prefixed("w/", Object.fromEntries(foldedNames(shape).map((name) => [name, float(2)])));

/** Names of a lane set's caches. A cache is `[lanes · key heads · capacity, head width]`. */
export const cacheNames = (shape: Shape): string[] =>
  Array.from({ length: shape.layers }, (_, layer) => [`k${layer}`, `v${layer}`]).flat();
const cacheFeeds = (shape: Shape) => Object.fromEntries(cacheNames(shape).map((name) => [name, float(2)]));

/** ids `[prompts, length]` → caches of that capacity. */
export const prefillSpec = (shape: Shape, streams: number): ProgramSpec => ({
  name: "prefill",
  feeds: { ...weightFeeds(shape), rotary: float(3), ...perStream(streams, { ids: int(2) }) },
  build<T>(ops: Ops<T>, feeds: Named<T>) {
    const results: Record<string, T> = {};
    for (const stream of streamNumbers(streams)) {
      const kept = forward(
        ops,
        shape,
        under(feeds, "w/"),
        take(feeds, `${stream}/ids`),
        take(feeds, "rotary"),
      );
      for (let layer = 0; layer < shape.layers; layer++) {
        for (const name of ["k", "v"]) {
          const byLane = ops.transpose(take(kept, `${layer}.${name}`), [1, 0, 2, 3]);
          results[`${stream}/${name}${layer}`] = ops.reshape(byLane, [-1, headWidth(shape)]);
        }
      }
    }
    return results;
  },
});

/** New caches whose lane i is the old lane `lanes[i]`, `extra` positions longer. `count` is the old number of lanes. */
export const moveSpec = (shape: Shape): ProgramSpec => ({
  name: "move lanes",
  feeds: { ...cacheFeeds(shape), lanes: int(1), count: int(0), extra: int(0) },
  build<T>(ops: Ops<T>, feeds: Named<T>) {
    const lanes = take(feeds, "lanes");
    const [count, extra] = [ops.dim(take(feeds, "count")), ops.dim(take(feeds, "extra"))];
    const width = headWidth(shape);
    const room = ops.zeros([ops.size(lanes, 0, "int"), shape.kv_heads, extra, width]);
    const moved = (cache: T): T => {
      const chosen = ops.gather(ops.reshape(cache, [count, shape.kv_heads, -1, width]), lanes);
      return ops.reshape(ops.concat([chosen, room], 2), [-1, width]);
    };
    return Object.fromEntries(cacheNames(shape).map((name) => [name, moved(take(feeds, name))]));
  },
});

/** One token more in every lane: hidden state before the head, and the caches as they are after it. */
function stepLanes<T>(
  ops: Ops<T>,
  shape: Shape,
  folded: Named<T>,
  rotary: T,
  own: Named<T>,
): { y: T; caches: Record<string, T> } {
  const width = headWidth(shape);
  const { heads, kv_heads } = shape;
  const group = heads / kv_heads;
  const [current, position, rows] = [take(own, "current"), take(own, "position"), take(own, "rows")];
  const lanes = ops.size(current, 0, "int");
  const table = ops.reshape(ops.gather(rotary, position), [lanes, 1, width / 2, 2]);
  const caches: Record<string, T> = {};
  let mask: T | undefined;
  let x = ops.gather(take(folded, "embedding"), current);
  const write = (name: string, value: T): T => {
    const written = ops.writeRows(take(own, name), rows, ops.reshape(value, [-1, width]));
    caches[name] = written;
    return ops.reshape(written, [lanes, kv_heads, -1, width]);
  };
  for (let layer = 0; layer < shape.layers; layer++) {
    const y1 = rms(ops, shape, x).y;
    const all = ops.reshape(ops.matmul(y1, take(folded, `${layer}.qkv`)), [
      lanes,
      heads + 2 * kv_heads,
      width,
    ]);
    const [turning, v] = ops.split(all, [heads + kv_heads, kv_heads], 1);
    const [q, k] = ops.split(
      ops.rotate(turning!, [lanes, heads + kv_heads, width], table, false),
      [heads, kv_heads],
      1,
    );
    const keys = write(`k${layer}`, k!);
    const values = write(`v${layer}`, v!);
    const capacity = ops.size(keys, 2);
    // Spread over the heads once: adding values of equal extents is several times as fast as broadcasting in every layer.
    mask ??= ops.add(
      ops.zeros([lanes, kv_heads, group, capacity]),
      ops.reshape(ops.futureMask(position, capacity), [lanes, 1, 1, capacity]),
    );
    const scores = ops.batchMatmulThin(ops.reshape(q!, [lanes, kv_heads, group, width]), keys, true);
    const mixed = ops.batchMatmulThin(ops.softmax(ops.add(scores, mask)), values, false);
    x = ops.add(x, ops.matmul(ops.reshape(mixed, [lanes, shape.width]), take(folded, `${layer}.out`)));
    const y2 = rms(ops, shape, x).y;
    const gate = ops.matmul(y2, take(folded, `${layer}.gate`));
    const hidden = ops.mul(ops.mul(gate, ops.sigmoid(gate)), ops.matmul(y2, take(folded, `${layer}.up`)));
    x = ops.add(x, ops.matmul(hidden, take(folded, `${layer}.down`)));
  }
  return { y: rms(ops, shape, x).y, caches };
}

/** First index whose cumulative weight exceeds uniform · total. */
function draw<T>(ops: Ops<T>, shape: Shape, weights: T, uniform: T): T {
  const cumulative = ops.cumsum(weights);
  const [, total] = ops.split(cumulative, [shape.vocabulary - 1, 1], 1);
  return ops.countUpTo(cumulative, ops.mul(ops.reshape(uniform, [-1, 1]), total!));
}

/** `[4 · lanes]`: token, logp at T = 1, logp as sampled, entropy at T = 1. */
function choose<T>(
  ops: Ops<T>,
  shape: Shape,
  choosing: Exclude<Choosing, "logits">,
  logits: T,
  uniform: T,
  inverseTemperature: T,
): T {
  const flat = (x: T): T => ops.reshape(x, [-1]);
  const unit = exponentials(ops, logits);
  const result = (token: T, logpSampled?: T): T => {
    const logp = ops.sub(ops.pick(unit.z, token), flat(unit.logS));
    return ops.concat([ops.toFloat(token), logp, logpSampled ?? logp, flat(entropy(ops, unit))], 0);
  };
  if (choosing === "greedy") return result(ops.argmax(logits));
  if (choosing === "unit") return result(draw(ops, shape, unit.e, uniform));
  const tempered = exponentials(ops, ops.mul(unit.z, inverseTemperature));
  const token = draw(ops, shape, tempered.e, uniform);
  return result(token, ops.sub(ops.pick(tempered.z, token), flat(tempered.logS)));
}

/** One decoding step of every stream's lanes. Caches are consumed: the results replace them. */
export const decodeSpec = (shape: Shape, streams: number, choosing: Choosing): ProgramSpec => ({
  name: `decode (${choosing})`,
  feeds: {
    ...weightFeeds(shape),
    rotary: float(3),
    inverseTemperature: float(0),
    ...perStream(streams, {
      current: int(1),
      position: int(1),
      rows: int(1),
      uniform: float(1),
      ...cacheFeeds(shape),
    }),
  },
  crossing: ["uniform", "chosen"],
  build<T>(ops: Ops<T>, feeds: Named<T>) {
    const results: Record<string, T> = {};
    const folded = under(feeds, "w/");
    for (const stream of streamNumbers(streams)) {
      const own = under(feeds, `${stream}/`);
      const { y, caches } = stepLanes(ops, shape, folded, take(feeds, "rotary"), own);
      const logits = ops.matmul(y, take(folded, "head"), false, true);
      Object.assign(results, prefixed(`${stream}/`, caches));
      results[`${stream}/chosen`] =
        choosing === "logits"
          ? logits
          : choose(ops, shape, choosing, logits, take(own, "uniform"), take(feeds, "inverseTemperature"));
    }
    return results;
  },
});
