/**
 * Programs of one layer, and of a piece of the head: for models whose activations or logits do not fit together. All
 * layers of one kind share a program, whose feeds carry the number of the first of them.
 */
import type { Channel } from "../../core/policy.ts";
import {
  detachedHeads,
  foldedPartsNames,
  seedFeed,
  trainedGradients,
  trainingOf,
  wordHeads,
  type Parts,
} from "../parts.ts";
import {
  eachStream,
  float,
  floatFeeds,
  int,
  matrixFeeds,
  perStream,
  streamNumbers,
  sumOverStreams,
  type Feeds,
} from "./feeds.ts";
import { take, type Named, type Ops } from "../../core/ops.ts";
import { prefixed, under, type ProgramSpec } from "../devices/runtime.ts";
import { backwardLayer, embedBackward, finishBackward } from "../transformer/backward.ts";
import {
  completed,
  embed,
  finalRanks,
  finish,
  forwardLayer,
  lean,
  leanRanks,
  surroundings,
} from "../transformer/forward.ts";
import { readerOf } from "../../core/rows/reader.ts";
import { mergeAll } from "../transformer/lowRank.ts";
import { channelValues, headBackward, type HeadInput } from "../transformer/head.ts";

/** The first layer whose program is this layer's, too. */
export function likeLayer({ shape }: Parts, layer: number): number {
  const local = shape.style.window?.layers;
  return local === undefined ? 0 : local.indexOf(local[layer] ?? false);
}

/** Names of the folded matrices of one layer, of the heads, of the embedding and of the final norm. */
export const layerNames = (parts: Parts, layer: number): string[] =>
  foldedPartsNames(parts).filter((name) => name.startsWith(`${layer}.`));
export const headNames = (parts: Parts): string[] =>
  foldedPartsNames(parts).filter((name) => name.startsWith("head"));
export const embeddingNames = (parts: Parts): string[] =>
  foldedPartsNames(parts).filter((name) => name === "embedding" || name === "positions");
export const finalNames = (parts: Parts): string[] =>
  foldedPartsNames(parts).filter((name) => name.startsWith("norm"));

/** ids `[rows, length]` → x `[rows · length, width]`. */
export const embedSpec = (parts: Parts, streams: number): ProgramSpec => ({
  name: "embed",
  feeds: { ...matrixFeeds("w/", embeddingNames(parts)), ...perStream(streams, { ids: int(2) }) },
  build: (ops, feeds) =>
    eachStream(streams, feeds, (own) => {
      const ids = take(own, "ids");
      const extents = { rows: ops.size(ids, 0, "int"), length: ops.size(ids, 1, "int") };
      return { x: embed(ops, parts.shape, under(feeds, "w/"), ids, extents) };
    }),
});
export const embedBackwardSpec = (parts: Parts, streams: number): ProgramSpec => ({
  name: "embedding's gradient",
  feeds: perStream(streams, { ids: int(2), dx: float(2) }),
  build: (ops, feeds) =>
    sumOverStreams(
      ops,
      streamNumbers(streams).map((stream) => {
        const ids = take(feeds, `${stream}/ids`);
        const extents = { rows: ops.size(ids, 0, "int"), length: ops.size(ids, 1, "int") };
        const { found } = trainingOf(ops, parts, {}, undefined, stream);
        embedBackward(ops, parts.shape, ids, take(feeds, `${stream}/dx`), extents, found);
        return trainedGradients(parts, found);
      }),
    ),
});

/**
 * What multiplies in a layer: its matrices as they are fed, an adapter's merged here, so that no other layer's are there
 * meanwhile, or under dropout base and adapter apart.
 */
export type Products = "fed" | "merged" | "apart";

const productsOf = <T>(ops: Ops<T>, products: Products, feeds: Named<T>): Record<string, T> => {
  const folded = under(feeds, "w/");
  return products === "merged" ? mergeAll(ops, folded) : folded;
};

const layerFeeds = (parts: Parts, layer: number): Feeds => ({
  ...matrixFeeds("w/", layerNames(parts, layer)),
  rotary: float(3),
});

/** x → the stream after the layer; with `keep`, its activations too, lean. */
export const layerSpec = (
  parts: Parts,
  streams: number,
  layer: number,
  keep: boolean,
  products: Products,
): ProgramSpec => ({
  name: `layer${keep ? ", kept" : ""}`,
  feeds: {
    ...layerFeeds(parts, layer),
    ...(products === "apart" ? seedFeed(parts) : {}),
    ...perStream(streams, { ids: int(2), x: float(2) }),
  },
  build(plain, feeds) {
    const { shape } = parts;
    const folded = productsOf(plain, products, feeds);
    return eachStream(streams, feeds, (own, stream) => {
      const { ops } = trainingOf(plain, parts, folded, feeds["seed"], stream);
      const around = surroundings(ops, shape, take(own, "ids"), take(feeds, "rotary"));
      const { x, kept } = forwardLayer(ops, shape, folded, layer, take(own, "x"), around);
      return keep ? { x, ...prefixed("kept/", lean(shape, layer, kept)) } : { x };
    });
  },
});

/**
 * The stream `x` before the layer and `shares` `[rows, n, length]` → `angles` `[rows, n, n]`, the products of n means of the
 * unit vectors that its feed-forward reads, `gain` `[1, width]` put back where it is folded away.
 */
export const anglesSpec = (
  parts: Parts,
  streams: number,
  layer: number,
  products: Products,
): ProgramSpec => ({
  name: "angles",
  feeds: {
    ...layerFeeds(parts, layer),
    gain: float(2),
    ...perStream(streams, { ids: int(2), x: float(2), shares: float(3) }),
  },
  crossing: ["shares", "angles"],
  build(ops, feeds) {
    const { shape } = parts;
    const folded = productsOf(ops, products, feeds);
    return eachStream(streams, feeds, (own) => {
      const around = surroundings(ops, shape, take(own, "ids"), take(feeds, "rotary"));
      const { kept } = forwardLayer(ops, shape, folded, layer, take(own, "x"), around);
      const state = ops.mul(take(kept, `${layer}.y2`), take(feeds, "gain"));
      const unit = ops.mul(state, ops.rsqrt(ops.shift(ops.sum(ops.square(state)), 1e-24)));
      const { rows, length } = around.extents;
      const means = ops.batchMatmul(take(own, "shares"), ops.reshape(unit, [rows, length, shape.width]));
      return { angles: ops.batchMatmul(means, means, false, true) };
    });
  },
});

/** dx after the layer, and its activations or (computing them again) its input x → dx before it, and gradients. */
export const layerBackwardSpec = (
  parts: Parts,
  streams: number,
  layer: number,
  kept: boolean,
  products: Products,
): ProgramSpec => ({
  name: `layer backward${kept ? "" : ", recomputed"}`,
  feeds: {
    ...layerFeeds(parts, layer),
    ...seedFeed(parts),
    ...perStream(streams, {
      ids: int(2),
      dx: float(2),
      ...(kept ? prefixed("kept/", floatFeeds(leanRanks(parts.shape, layer))) : { x: float(2) }),
    }),
  },
  build<T>(plain: Ops<T>, feeds: Named<T>) {
    const folded = productsOf(plain, products, feeds);
    const results: Record<string, T> = {};
    const byStream = streamNumbers(streams).map((stream) => {
      const own = under(feeds, `${stream}/`);
      const { ops, found } = trainingOf(plain, parts, folded, feeds["seed"], stream);
      const around = surroundings(ops, parts.shape, take(own, "ids"), take(feeds, "rotary"));
      const activations = kept
        ? completed(ops, parts.shape, layer, under(own, "kept/"), around)
        : forwardLayer(ops, parts.shape, folded, layer, take(own, "x"), around).kept;
      const dx = take(own, "dx");
      results[`${stream}/dx`] = backwardLayer(
        ops,
        parts.shape,
        folded,
        layer,
        activations,
        dx,
        around,
        found,
      );
      return trainedGradients(parts, found);
    });
    return { ...results, ...prefixed("g/", sumOverStreams(plain, byStream)) };
  },
});

/** x → the normalised final state `y`, and what its way back needs. */
export const finishSpec = (parts: Parts, streams: number): ProgramSpec => ({
  name: "final norm",
  feeds: { ...matrixFeeds("w/", finalNames(parts)), ...perStream(streams, { x: float(2) }) },
  build: (ops, feeds) =>
    eachStream(streams, feeds, (own) => finish(ops, parts.shape, under(feeds, "w/"), take(own, "x"))),
});
export const finishBackwardSpec = (parts: Parts, streams: number): ProgramSpec => ({
  name: "final norm backward",
  feeds: {
    ...matrixFeeds("w/", finalNames(parts)),
    ...perStream(streams, { dy: float(2), ...floatFeeds(finalRanks(parts.shape)) }),
  },
  build<T>(ops: Ops<T>, feeds: Named<T>) {
    const folded = under(feeds, "w/");
    const results: Record<string, T> = {};
    const byStream = streamNumbers(streams).map((stream) => {
      const own = under(feeds, `${stream}/`);
      const { found } = trainingOf(ops, parts, folded, undefined, stream);
      results[`${stream}/dx`] = finishBackward(ops, parts.shape, folded, take(own, "dy"), own, found);
      return trainedGradients(parts, found);
    });
    return { ...results, ...prefixed("g/", sumOverStreams(ops, byStream)) };
  },
});

// ───────────────────────────────────────────────────────────────── the head

/** `others`: the models that divergences are taken from. */
function headFeeds(parts: Parts, streams: number, others: readonly string[], more: Feeds): Feeds {
  const states: Feeds = {};
  const feeds: Feeds = matrixFeeds("w/", headNames(parts));
  for (const model of others) {
    feeds[`o/${model}/head`] = float(2);
    states[`y/${model}`] = float(2);
    if (readerOf(model).teacher !== undefined) states[`scored/${model}`] = int(1);
  }
  return {
    ...feeds,
    ...perStream(streams, { y: float(2), scored: int(1), targets: int(1), ...states, ...more }),
  };
}
/** `own`: the states `y` of all tokens, and which of them are scored against what. */
export function headInput<T>(
  ops: Ops<T>,
  parts: Parts,
  others: readonly string[],
  feeds: Named<T>,
  own: Named<T>,
): HeadInput<T> {
  const scored = take(own, "scored");
  return {
    y: ops.gather(take(own, "y"), scored),
    targets: take(own, "targets"),
    folded: under(feeds, "w/"),
    words: wordHeads(parts),
    others: Object.fromEntries(
      others.map((model) => [
        model,
        {
          y: ops.gather(take(own, `y/${model}`), own[`scored/${model}`] ?? scored),
          folded: under(feeds, `o/${model}/`),
        },
      ]),
    ),
  };
}

/** States of all tokens, and which of them are scored now → channels of these. */
export const headSpec = (
  parts: Parts,
  streams: number,
  channels: readonly Channel[],
  others: readonly string[],
): ProgramSpec => ({
  name: `head (${channels.join(", ")})`,
  feeds: headFeeds(parts, streams, others, {}),
  crossing: ["channels"],
  build: (ops, feeds) =>
    eachStream(streams, feeds, (own) => ({
      channels: channelValues(ops, channels, headInput(ops, parts, others, feeds, own)),
    })),
});

/** The same and coefficients → channels' gradient by the states, added to `dy`, and by the head's matrices. */
export const headBackwardSpec = (
  parts: Parts,
  streams: number,
  channels: readonly Channel[],
  others: readonly string[],
): ProgramSpec => ({
  name: `head backward (${channels.join(", ")})`,
  feeds: headFeeds(parts, streams, others, { coefficients: float(2), place: int(1), dy: float(2) }),
  crossing: ["coefficients"],
  build<T>(ops: Ops<T>, feeds: Named<T>) {
    const results: Record<string, T> = {};
    const byStream = streamNumbers(streams).map((stream) => {
      const own = under(feeds, `${stream}/`);
      const { found } = trainingOf(ops, parts, under(feeds, "w/"), undefined, stream);
      const dy = headBackward(
        ops,
        channels,
        headInput(ops, parts, others, feeds, own),
        take(own, "coefficients"),
        { vocabulary: parts.shape.vocabulary, detached: detachedHeads(parts) },
        found,
      );
      results[`${stream}/dy`] = ops.add(take(own, "dy"), ops.gather(dy, take(own, "place")));
      return trainedGradients(parts, found);
    });
    return { ...results, ...prefixed("g/", sumOverStreams(ops, byStream)) };
  },
});
