/**
 * Angles between the states that the last layer's feed-forward reads of a prompt: how alike a question's tokens are to one
 * another, and to what comes before it (Wang et al., "Angles Don't Lie"). The mean cosine of two sets of tokens is the
 * product of their mean unit vectors, so that of each prompt four numbers leave the device, and no state.
 */
import type { Angles, Questioned } from "../core/states.ts";
import { microRows, perRun, type MicroBatch } from "./passes/layout.ts";
import { LayeredTrunk } from "./passes/layeredTrunk.ts";
import type { Engine } from "./passes/passes.ts";
import { take } from "../core/ops.ts";
import { exactFloats } from "./devices/runtime.ts";
import { idFeeds, using } from "./passes/score.ts";
import { foldsGains } from "./transformer/norm.ts";

/** What each token counts in the mean of the question and in that of what is before it: `[rows, 2, length]`. */
function sharesOf(micro: MicroBatch, prompts: readonly Questioned[]): Float32Array {
  const shares = new Float32Array(2 * micro.ids.length);
  micro.rows.forEach(({ row }, index) => {
    const { from, to } = prompts[row]!;
    const at = 2 * index * micro.length;
    shares.fill(1 / (to - from), at + from, at + to);
    shares.fill(1 / from, at + micro.length, at + micro.length + from);
  });
  return shares;
}

/** The gain of the norm before the last feed-forward, which may be folded into the matrix after it. */
function gainOf({ programs: { shape }, vector }: Engine): Float32Array {
  if (!foldsGains(shape)) return new Float32Array(shape.width).fill(1);
  return vector(`${shape.layers - 1}.norm2`).map((gain) => gain + shape.style.gain_offset);
}

/** @param micros of `textRows`: every prompt is in one of them */
export function anglesOf(
  engine: Engine,
  micros: readonly MicroBatch[],
  prompts: readonly Questioned[],
): Angles {
  const { runtime, shape } = engine.programs;
  const trunk = new LayeredTrunk(engine);
  const intra = new Float64Array(prompts.length);
  const inter = new Float64Array(prompts.length);
  const gain = { gain: runtime.upload(gainOf(engine), [1, shape.width]) };
  using(gain, () => {
    for (const run of perRun(micros, runtime.streams, engine.pad)) {
      const shares = run.map((micro, stream) => [
        `${stream}/shares`,
        runtime.upload(sharesOf(micro, prompts), [microRows(micro), 2, micro.length]),
      ]);
      const ids = idFeeds(runtime, run);
      const made = { ...ids, ...Object.fromEntries(shares) };
      const results = using(made, () => trunk.angles(ids, { ...made, ...gain }));
      using(results, () =>
        run.forEach(({ rows }, stream) => {
          const products = exactFloats(take(results, `${stream}/angles`));
          rows.forEach(({ row }, index) => {
            intra[row] = products[4 * index]!;
            inter[row] = products[4 * index + 1]!;
          });
        }),
      );
    }
  });
  return { intra, inter };
}
