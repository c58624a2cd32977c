/**
 * Programs of one layer, and of a piece of the head: for models whose activations or logits do not fit together. All
 * layers of one kind share a program, whose feeds carry the number of the first of them.
 */
import type { Channel } from "../seams.ts";
import type { Ops } from "./ops.ts";
import { detachedHeads, foldedRanks, matrixGradientOf, type Parts } from "./parts.ts";
import { float, floatFeeds, int, perStream, streamNumbers, sumOverStreams, type Feeds } from "./feeds.ts";
import { prefixed, take, under, type Named, type ProgramSpec } from "./runtime.ts";
import { backwardLayer, embeddingBackward, finalBackward } from "./transformer/backward.ts";
import { embed, forwardLayer, layerRanks, rms, surroundings } from "./transformer/forward.ts";
import { channelValues, headBackward, type HeadInput } from "./transformer/head.ts";

/** The first layer whose program is this layer's, too. */
export function likeLayer({ shape }: Parts, layer: number): number {
  const local = shape.style.window?.layers;
  return local === undefined ? 0 : local.indexOf(local[layer] ?? false);
}

/** Feeds `w/…` of the folded values whose names pass. */
const chosen = (parts: Parts, pass: (name: string) => boolean): Feeds =>
  prefixed(
    "w/",
    floatFeeds(Object.fromEntries(Object.entries(foldedRanks(parts)).filter(([name]) => pass(name)))),
  );
/** Names of the folded values of one layer. */
export const layerNames = (parts: Parts, layer: number): string[] =>
  Object.keys(foldedRanks(parts)).filter((name) => name.startsWith(`${layer}.`));
const isLayer = (name: string): boolean => /^\d+\./.test(name);
export const headNames = (parts: Parts): string[] =>
  Object.keys(foldedRanks(parts)).filter((name) => name.startsWith("head"));
export const embeddingNames = (parts: Parts): string[] =>
  Object.keys(foldedRanks(parts)).filter((name) => !isLayer(name) && !name.startsWith("head"));

function eachStream<T>(
  streams: number,
  feeds: Named<T>,
  compute: (own: Named<T>) => Record<string, T>,
): Record<string, T> {
  const results: Record<string, T> = {};
  for (const stream of streamNumbers(streams))
    Object.assign(results, prefixed(`${stream}/`, compute(under(feeds, `${stream}/`))));
  return results;
}

/** ids `[rows, length]` → x `[rows · length, width]`. */
export const embedSpec = (parts: Parts, streams: number): ProgramSpec => ({
  name: "embed",
  feeds: { ...chosen(parts, (name) => embeddingNames(parts).includes(name)), ...perStream(streams, { ids: int(2) }) },
  build: (ops, feeds) =>
    eachStream(streams, feeds, (own) => ({ x: embed(ops, under(feeds, "w/"), take(own, "ids")) })),
});
export const embedBackwardSpec = (parts: Parts, streams: number): ProgramSpec => ({
  name: "embedding's gradient",
  feeds: perStream(streams, { ids: int(2), dx: float(2) }),
  build: (ops, feeds) =>
    sumOverStreams(
      ops,
      streamNumbers(streams).map((stream) =>
        embeddingBackward(ops, parts.shape, take(feeds, `${stream}/dx`), take(feeds, `${stream}/ids`)),
      ),
    ),
});

const layerFeeds = (parts: Parts, layer: number): Feeds => ({
  ...chosen(parts, (name) => name.startsWith(`${layer}.`)),
  rotary: float(3),
});

/** x → the stream after the layer; with `keep`, its activations too. */
export const layerSpec = (parts: Parts, streams: number, layer: number, keep: boolean): ProgramSpec => ({
  name: `layer${keep ? ", kept" : ""}`,
  feeds: { ...layerFeeds(parts, layer), ...perStream(streams, { ids: int(2), x: float(2) }) },
  build: (ops, feeds) =>
    eachStream(streams, feeds, (own) => {
      const around = surroundings(ops, take(own, "ids"), take(feeds, "rotary"));
      const { x, kept } = forwardLayer(ops, parts.shape, under(feeds, "w/"), layer, take(own, "x"), around);
      return keep ? { x, ...prefixed("kept/", kept) } : { x };
    }),
});

/** dx after the layer, and its activations or (computing them again) its input x → dx before it, and gradients. */
export const layerBackwardSpec = (
  parts: Parts,
  streams: number,
  layer: number,
  kept: boolean,
): ProgramSpec => ({
  name: `layer backward${kept ? "" : ", recomputed"}`,
  feeds: {
    ...layerFeeds(parts, layer),
    ...perStream(streams, {
      ids: int(2),
      dx: float(2),
      ...(kept ? prefixed("kept/", floatFeeds(layerRanks(parts.shape, layer))) : { x: float(2) }),
    }),
  },
  build<T>(ops: Ops<T>, feeds: Named<T>) {
    const folded = under(feeds, "w/");
    const results: Record<string, T> = {};
    const byStream = streamNumbers(streams).map((stream) => {
      const own = under(feeds, `${stream}/`);
      const around = surroundings(ops, take(own, "ids"), take(feeds, "rotary"));
      const activations = kept
        ? under(own, "kept/")
        : forwardLayer(ops, parts.shape, folded, layer, take(own, "x"), around).kept;
      const gradients: Record<string, T> = {};
      results[`${stream}/dx`] = backwardLayer(
        ops,
        parts.shape,
        folded,
        layer,
        activations,
        take(own, "dx"),
        around,
        gradients,
        matrixGradientOf(ops, parts, folded),
      );
      return gradients;
    });
    return { ...results, ...prefixed("g/", sumOverStreams(ops, byStream)) };
  },
});

/** x → the normalised final state. */
export const finishSpec = (parts: Parts, streams: number): ProgramSpec => ({
  name: "final norm",
  feeds: perStream(streams, { x: float(2) }),
  build: (ops, feeds) => eachStream(streams, feeds, (own) => ({ ...rms(ops, parts.shape, take(own, "x")) })),
});
export const finishBackwardSpec = (_: Parts, streams: number): ProgramSpec => ({
  name: "final norm backward",
  feeds: perStream(streams, { dy: float(2), y: float(2), inverse: float(2) }),
  build: (ops, feeds) =>
    eachStream(streams, feeds, (own) => ({ dx: finalBackward(ops, take(own, "dy"), own) })),
});

// ───────────────────────────────────────────────────────────────── the head

/** `others`: of each model that a divergence is taken from, the names of its folded head. */
function headFeeds(parts: Parts, streams: number, others: Named<readonly string[]>, more: Feeds): Feeds {
  const feeds: Feeds = chosen(parts, (name) => name.startsWith("head"));
  const states: Feeds = {};
  for (const [model, names] of Object.entries(others)) {
    for (const name of names) feeds[`o/${model}/${name}`] = float(name.endsWith("_bias") ? 1 : 2);
    states[`y/${model}`] = float(2);
  }
  return {
    ...feeds,
    ...perStream(streams, { y: float(2), scored: int(1), targets: int(1), ...states, ...more }),
  };
}
function headInput<T>(
  ops: Ops<T>,
  others: Named<readonly string[]>,
  feeds: Named<T>,
  own: Named<T>,
): HeadInput<T> {
  const scored = take(own, "scored");
  return {
    y: ops.gather(take(own, "y"), scored),
    targets: take(own, "targets"),
    folded: under(feeds, "w/"),
    others: Object.fromEntries(
      Object.keys(others).map((model) => [
        model,
        { y: ops.gather(take(own, `y/${model}`), scored), folded: under(feeds, `o/${model}/`) },
      ]),
    ),
  };
}

/** States of all tokens, and which of them are scored now → channels of these. */
export const headSpec = (
  parts: Parts,
  streams: number,
  channels: readonly Channel[],
  others: Named<readonly string[]>,
): ProgramSpec => ({
  name: `head (${channels.join(", ")})`,
  feeds: headFeeds(parts, streams, others, {}),
  build: (ops, feeds) =>
    eachStream(streams, feeds, (own) => ({
      channels: channelValues(ops, channels, headInput(ops, others, feeds, own)),
    })),
});

/** The same and coefficients → channels' gradient by the states, added to `dy`, and by the head's matrices. */
export const headBackwardSpec = (
  parts: Parts,
  streams: number,
  channels: readonly Channel[],
  others: Named<readonly string[]>,
): ProgramSpec => ({
  name: `head backward (${channels.join(", ")})`,
  feeds: headFeeds(parts, streams, others, { coefficients: float(2), place: int(1), dy: float(2) }),
  build<T>(ops: Ops<T>, feeds: Named<T>) {
    const results: Record<string, T> = {};
    const byStream = streamNumbers(streams).map((stream) => {
      const own = under(feeds, `${stream}/`);
      const { dy, gradients } = headBackward(
        ops,
        channels,
        headInput(ops, others, feeds, own),
        take(own, "coefficients"),
        { vocabulary: parts.shape.vocabulary, detached: detachedHeads(parts) },
        matrixGradientOf(ops, parts, under(feeds, "w/")),
      );
      results[`${stream}/dy`] = ops.add(take(own, "dy"), ops.gather(dy, take(own, "place")));
      return gradients;
    });
    return { ...results, ...prefixed("g/", sumOverStreams(ops, byStream)) };
  },
});
