/** Programs over whole micro-batches, head included: for models whose activations and logits fit together. */
import type { Channel } from "../../core/policy.ts";
import { detachedHeads, seedFeed, trainedGradients, trainingOf, type Parts } from "../parts.ts";
import { float, floatFeeds, foldedFeeds, int, perStream, streamNumbers, sumOverStreams } from "./feeds.ts";
import { headInput } from "./layeredPrograms.ts";
import { take, type Named, type Ops } from "../../core/ops.ts";
import { prefixed, under, type ProgramSpec } from "../devices/runtime.ts";
import { backward } from "../transformer/backward.ts";
import { forward, keptRanks } from "../transformer/forward.ts";
import { channelValues, headBackward } from "../transformer/head.ts";

/** Of each micro-batch: its rectangle, and which of its tokens are scored against what. */
const rows = { ids: int(2), scored: int(1), targets: int(1) };
/** `place` says where in the scored tokens each token of the rectangle is; others point at one without a coefficient. */
const weighedRows = { ...rows, place: int(1), coefficients: float(2) };

const trunk = <T>(ops: Ops<T>, { shape }: Parts, feeds: Named<T>, own: Named<T>): Record<string, T> =>
  forward(ops, shape, under(feeds, "w/"), take(own, "ids"), take(feeds, "rotary"));

/** `kept`: activations of the forward pass; undefined: they are computed here. */
function gradients<T>(
  plain: Ops<T>,
  parts: Parts,
  channels: readonly Channel[],
  feeds: Named<T>,
  stream: number,
  held?: Named<T>,
): Record<string, T> {
  const folded = under(feeds, "w/");
  const own = under(feeds, `${stream}/`);
  const { ops, found } = trainingOf(plain, parts, folded, feeds["seed"], stream);
  const kept = held ?? trunk(ops, parts, feeds, own);
  const byState = headBackward(
    ops,
    channels,
    headInput(ops, parts, [], feeds, { ...own, y: take(kept, "y") }),
    take(own, "coefficients"),
    { vocabulary: parts.shape.vocabulary, detached: detachedHeads(parts) },
    found,
  );
  const dy = ops.gather(byState, take(own, "place"));
  const [ids, rotary] = [take(own, "ids"), take(feeds, "rotary")];
  backward(ops, parts.shape, folded, ids, rotary, kept, dy, found, parts.adapter === undefined);
  return trainedGradients(parts, found);
}

/** rows → normalised final states of every token of the rectangle. */
export const statesSpec = (parts: Parts, streams: number): ProgramSpec => ({
  name: "states",
  feeds: { ...foldedFeeds(parts), rotary: float(3), ...perStream(streams, { ids: int(2) }) },
  build: (ops, feeds) =>
    Object.fromEntries(
      streamNumbers(streams).map((stream) => [
        `${stream}/y`,
        take(trunk(ops, parts, feeds, under(feeds, `${stream}/`)), "y"),
      ]),
    ),
});

/** rows → channels; with `keep`, the activations too. `training`: as the backward pass will see them. */
export const forwardSpec = (
  parts: Parts,
  streams: number,
  channels: readonly Channel[],
  keep: boolean,
  training: boolean,
): ProgramSpec => ({
  name: `${keep ? "forward" : "score"} (${channels.join(", ")})`,
  feeds: {
    ...foldedFeeds(parts),
    rotary: float(3),
    ...(training ? seedFeed(parts) : {}),
    ...perStream(streams, rows),
  },
  crossing: ["channels"],
  build<T>(plain: Ops<T>, feeds: Named<T>) {
    const results: Record<string, T> = {};
    for (const stream of streamNumbers(streams)) {
      const own = under(feeds, `${stream}/`);
      const { ops } = trainingOf(plain, parts, under(feeds, "w/"), feeds["seed"], stream);
      const kept = trunk(ops, parts, feeds, own);
      results[`${stream}/channels`] = channelValues(
        ops,
        channels,
        headInput(ops, parts, [], feeds, { ...own, y: take(kept, "y") }),
      );
      if (keep) Object.assign(results, prefixed(`${stream}/kept/`, kept));
    }
    return results;
  },
});

/** kept activations and coefficients → gradients by the folded matrices, summed over streams. */
export const backwardSpec = (parts: Parts, streams: number, channels: readonly Channel[]): ProgramSpec => ({
  name: `backward (${channels.join(", ")})`,
  feeds: {
    ...foldedFeeds(parts),
    ...seedFeed(parts),
    rotary: float(3),
    ...perStream(streams, { ...weighedRows, ...prefixed("kept/", floatFeeds(keptRanks(parts.shape))) }),
  },
  crossing: ["coefficients"],
  build: (ops, feeds) =>
    sumOverStreams(
      ops,
      streamNumbers(streams).map((stream) => {
        const kept = under(feeds, `${stream}/kept/`);
        return gradients(ops, parts, channels, feeds, stream, kept);
      }),
    ),
});

/** rows and coefficients → gradients, forward and backward in one. */
export const fusedSpec = (parts: Parts, streams: number, channels: readonly Channel[]): ProgramSpec => ({
  name: `forward and backward (${channels.join(", ")})`,
  feeds: {
    ...foldedFeeds(parts),
    ...seedFeed(parts),
    rotary: float(3),
    ...perStream(streams, weighedRows),
  },
  crossing: ["coefficients"],
  build: (ops, feeds) =>
    sumOverStreams(
      ops,
      streamNumbers(streams).map((stream) => gradients(ops, parts, channels, feeds, stream)),
    ),
});
