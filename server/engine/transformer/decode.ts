/** Programs of generation: prefill of prompts, one decoding step over a KV cache, and moving lanes between caches. */
import { perStream, streamNumbers } from "../passes/feeds.ts";
import { take, type Named, type Dim, type Ops } from "../../core/ops.ts";
import { prefixed, under, type ProgramSpec } from "../devices/runtime.ts";
import { foldedNames } from "./fold.ts";
import { choose, settingFeeds, type Choosing } from "./choose.ts";
import { feedForward } from "./feedForward.ts";
import { forward, residual } from "./forward.ts";
import { headOutputs } from "./head.ts";
import { linear } from "./linear.ts";
import { markFeeds, marksOf, markTokens } from "./penalties.ts";
import { before, rms } from "./norm.ts";
import { masks, turns } from "./positions.ts";
import { headWidth, type Shape } from "./weights.ts";

export const float = (rank: number) => ({ dtype: "float" as const, rank });
export const int = (rank: number) => ({ dtype: "int" as const, rank });
export const weightFeeds = (shape: Shape) =>
  prefixed("w/", Object.fromEntries(foldedNames(shape).map((name) => [name, float(2)])));

/** Names of a lane set's caches. A cache is `[lanes · key heads · capacity, head width]`. */
export const cacheNames = (shape: Shape): string[] =>
  Array.from({ length: shape.layers }, (_, layer) => [`k${layer}`, `v${layer}`]).flat();
export const cacheFeeds = (shape: Shape) =>
  Object.fromEntries(cacheNames(shape).map((name) => [name, float(2)]));

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

/** A new cache whose lane i is the old lane `lanes[i]`, `extra` positions longer. `count` is the old number of lanes. */
export const moveSpec = (shape: Shape): ProgramSpec => ({
  name: "move lanes",
  feeds: { cache: float(2), lanes: int(1), count: int(0), extra: int(0) },
  build<T>(ops: Ops<T>, feeds: Named<T>) {
    const lanes = take(feeds, "lanes");
    const [count, extra] = [ops.dim(take(feeds, "count")), ops.dim(take(feeds, "extra"))];
    const width = headWidth(shape);
    const room = ops.zeros([ops.size(lanes, 0, "int"), shape.kv_heads, extra, width]);
    const old = ops.reshape(take(feeds, "cache"), [count, shape.kv_heads, -1, width]);
    return { moved: ops.reshape(ops.concat([ops.gather(old, lanes), room], 2), [-1, width]) };
  },
});

/** Queries, keys and values of one token of every lane, `[lanes, heads, width]`. */
function projectLanes<T>(
  ops: Ops<T>,
  shape: Shape,
  folded: Named<T>,
  layer: number,
  y: T,
  lanes: Dim<T>,
  table: T,
): Record<"q" | "k" | "v", T> {
  const { heads, kv_heads, style } = shape;
  const width = headWidth(shape);
  const both = heads + kv_heads;
  const all = ops.reshape(linear(ops, folded, `${layer}.qkv`, y), [lanes, both + kv_heads, width]);
  const [plain, v] = ops.split(all, [both, kv_heads], 1);
  const normed = style.qk_norm
    ? ops.mul(rms(ops, shape.epsilon, plain!).normed, take(folded, `${layer}.qk_norm`))
    : plain!;
  const turned =
    style.positions === "rotary" ? ops.rotate(normed, [lanes, both, width], table, false) : normed;
  const [q, k] = ops.split(turned, [heads, kv_heads], 1);
  return { q: q!, k: k!, v: v! };
}

/** Embeddings of one token of every lane. */
function embedLanes<T>(ops: Ops<T>, { style }: Shape, folded: Named<T>, current: T, position: T): T {
  const plain = ops.gather(take(folded, "embedding"), current);
  const x = style.embedding_scale === 1 ? plain : ops.scale(plain, style.embedding_scale);
  return style.positions === "rotary" ? x : ops.add(x, ops.gather(take(folded, "positions"), position));
}

/**
 * Caches whose lanes `slots` are replaced, in place, by the prompts `chosen` of `p/…`, whose caches are `extra`
 * positions shorter. `count` and `prompts` are the numbers of lanes of either.
 */
export const seatSpec = (shape: Shape): ProgramSpec => ({
  name: "seat prompts",
  feeds: {
    ...cacheFeeds(shape),
    ...prefixed("p/", cacheFeeds(shape)),
    slots: int(1),
    chosen: int(1),
    count: int(0),
    prompts: int(0),
    extra: int(0),
  },
  build<T>(ops: Ops<T>, feeds: Named<T>) {
    const [slots, chosen] = [take(feeds, "slots"), take(feeds, "chosen")];
    const [count, prompts, extra] = ["count", "prompts", "extra"].map((name) => ops.dim(take(feeds, name)));
    const width = headWidth(shape);
    const seats = ops.size(slots, 0, "int");
    const room = ops.zeros([seats, shape.kv_heads, extra!, width]);
    const seated = (name: string): T => {
      const given = ops.reshape(take(feeds, `p/${name}`), [prompts!, shape.kv_heads, -1, width]);
      const padded = ops.concat([ops.gather(given, chosen), room], 2);
      const lanes = ops.reshape(take(feeds, name), [count!, -1]);
      return ops.reshape(ops.writeRows(lanes, slots, ops.reshape(padded, [seats, -1])), [-1, width]);
    };
    return Object.fromEntries(cacheNames(shape).map((name) => [name, seated(name)]));
  },
});

/** Tokens, one after the other, and where each is in its row. */
interface Places<T> {
  readonly current: T;
  readonly position: T;
}
/**
 * Tokens through all layers: hidden states before the head. `attend` is given their queries, keys and values, `[tokens, heads,
 * width]`, and returns what they attend to, `[tokens, heads · width]`.
 */
export function throughLayers<T>(
  ops: Ops<T>,
  shape: Shape,
  folded: Named<T>,
  rotary: T,
  { current, position }: Places<T>,
  attend: (layer: number, q: T, k: T, v: T) => T,
): T {
  const width = headWidth(shape);
  const tokens = ops.size(current, 0, "int");
  const table = turns(ops, shape, rotary, position, (angles) =>
    ops.reshape(angles, [tokens, 1, width / 2, 2]),
  );
  let x = embedLanes(ops, shape, folded, current, position);
  for (let layer = 0; layer < shape.layers; layer++) {
    const y1 = before(ops, shape, folded, `${layer}.norm1`, x).y;
    const { q, k, v } = projectLanes(ops, shape, folded, layer, y1, tokens, table(layer));
    const out = linear(ops, folded, `${layer}.out`, attend(layer, q, k, v));
    x = ops.add(x, residual(ops, shape, folded, layer, 1, out).result);
    const y2 = before(ops, shape, folded, `${layer}.norm2`, x).y;
    const { result } = feedForward(ops, shape, folded, layer, y2);
    x = ops.add(x, residual(ops, shape, folded, layer, 2, result).result);
  }
  return before(ops, shape, folded, "norm", x).y;
}

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
  const caches: Record<string, T> = {};
  let mask: ((layer: number) => T) | undefined;
  // Spread over the heads once: adding values of equal extents is several times as fast as broadcasting in every layer.
  const spreadMasks = (capacity: Dim<T>): ((layer: number) => T) =>
    masks(ops, shape, position, capacity, (row) =>
      ops.add(ops.zeros([lanes, kv_heads, group, capacity]), ops.reshape(row, [lanes, 1, 1, capacity])),
    );
  const write = (name: string, value: T): T => {
    const written = ops.writeRows(take(own, name), rows, ops.reshape(value, [-1, width]));
    caches[name] = written;
    return ops.reshape(written, [lanes, kv_heads, -1, width]);
  };
  const y = throughLayers(ops, shape, folded, rotary, { current, position }, (layer, q, k, v) => {
    const keys = write(`k${layer}`, k);
    const values = write(`v${layer}`, v);
    mask ??= spreadMasks(ops.size(keys, 2));
    const scores = ops.batchMatmulThin(ops.reshape(q, [lanes, kv_heads, group, width]), keys, true);
    const mixed = ops.batchMatmulThin(ops.softmax(ops.add(scores, mask(layer))), values, false);
    return ops.reshape(mixed, [lanes, heads * width]);
  });
  return { y, caches };
}

/** The least of the heads' values of every word, [lanes, vocabulary]; undefined where there are no heads. */
function leastOf<T>(ops: Ops<T>, folded: Named<T>, heads: readonly string[], y: T): T | undefined {
  const [first, ...rest] = heads.map((head) => headOutputs(ops, folded, head, y));
  return first === undefined ? undefined : rest.reduce((least, one) => ops.minimum(least, one), first);
}

/**
 * One decoding step of every stream's lanes. Caches are consumed: the results replace them. A stream's feeds too:
 * `ints` `[2 + key heads (+ 1), lanes]`, the last token and its position of every lane, then the cache rows that the
 * position has, lane by lane, then (adjusted) its row of the table of adjustments, then (penalised) the place of the last
 * token in the lanes' marks, which are consumed like caches; `floats` `[2, lanes]`, a uniform
 * number and the inverse temperature. `chosen` is as `choose` returns it; `logits` and what perturbs them come too where
 * they may be asked again.
 */
export const decodeSpec = (shape: Shape, streams: number, choosing: Choosing): ProgramSpec => ({
  name: "decode",
  feeds: {
    ...weightFeeds(shape),
    ...Object.fromEntries(
      choosing.perturbed.flatMap((head) => [
        [`w/heads.${head}`, float(2)],
        [`w/heads.${head}_bias`, float(2)],
      ]),
    ),
    rotary: float(3),
    ...settingFeeds(choosing),
    ...perStream(streams, {
      ints: int(2),
      floats: float(2),
      ...cacheFeeds(shape),
      ...markFeeds(choosing.penalised),
    }),
  },
  crossing: ["floats", "chosen"],
  build<T>(ops: Ops<T>, feeds: Named<T>) {
    const results: Record<string, T> = {};
    const folded = under(feeds, "w/");
    for (const stream of streamNumbers(streams)) {
      const own = under(feeds, `${stream}/`);
      const penalised = marksOf(choosing.penalised).length > 0;
      const extents = [
        1,
        1,
        shape.kv_heads,
        ...[choosing.adjusted, penalised].flatMap((on) => (on ? [1] : [])),
      ];
      const parts = ops
        .split(take(own, "ints"), extents, 0, "int")
        .map((part) => ops.reshape(part, [-1], "int"));
      const [current, position, rows] = parts;
      const adjustment = choosing.adjusted ? parts[3] : undefined;
      const lanes = { ...own, current: current!, position: position!, rows: rows! };
      const { y, caches } = stepLanes(ops, shape, folded, take(feeds, "rotary"), lanes);
      const logits = ops.matmul(y, take(folded, "head"), false, true);
      const marks = penalised ? markTokens(ops, choosing.penalised, own, parts.at(-1)!) : {};
      Object.assign(results, prefixed(`${stream}/`, { ...caches, ...marks }));
      const perturbation = leastOf(ops, folded, choosing.perturbed, y);
      const given = {
        ...feeds,
        ...marks,
        floats: take(own, "floats"),
        ...(perturbation !== undefined && { perturbation }),
        ...(adjustment && { adjustment }),
      };
      results[`${stream}/chosen`] = choose(ops, shape.vocabulary, choosing, logits, given);
      if (choosing.top !== "mass") continue;
      results[`${stream}/logits`] = logits;
      if (perturbation !== undefined) results[`${stream}/perturbation`] = perturbation;
    }
    return results;
  },
});
