/** Vectors of texts: a model's final states, those after its last norm, of a text's last token or in the mean. */
import type { Pooling } from "../core/states.ts";
import { microRows, perRun, type MicroBatch } from "./passes/layout.ts";
import { passesOver } from "./passes/layeredPasses.ts";
import type { Engine } from "./passes/passes.ts";
import { take } from "../core/ops.ts";
import { exactFloats } from "./devices/runtime.ts";
import { idFeeds, using } from "./passes/score.ts";
import { foldsFinalGain } from "./transformer/norm.ts";

/** What each token counts in its text's vector: `[rows, 1, length]`. */
function sharesOf(micro: MicroBatch, texts: readonly Int32Array[], pooling: Pooling): Float32Array {
  const shares = new Float32Array(micro.ids.length);
  micro.rows.forEach(({ row }, index) => {
    const [at, { length }] = [index * micro.length, texts[row]!];
    if (pooling === "last") shares[at + length - 1] = 1;
    else shares.fill(1 / length, at, at + length);
  });
  return shares;
}

/** The gain of the last norm, which may be folded into the head after it. */
function gainOf({ programs: { shape }, vector }: Engine): Float32Array {
  if (!foldsFinalGain(shape)) return new Float32Array(shape.width).fill(1);
  return vector("norm").map((gain) => gain + shape.style.gain_offset);
}

/** @param micros of `textRows`: every text is in one of them, and none is empty */
export function embeddingsOf(
  engine: Engine,
  micros: readonly MicroBatch[],
  texts: readonly Int32Array[],
  pooling: Pooling,
): Float32Array[] {
  const { runtime, shape } = engine.programs;
  const gain = gainOf(engine);
  const vectors = texts.map(() => new Float32Array(shape.width));
  for (const run of perRun(micros, runtime.streams, engine.pad)) {
    const ids = idFeeds(runtime, run);
    const states = using(ids, () => passesOver(engine, [run]).states(run, ids));
    const shares = Object.fromEntries(
      run.map((micro, stream) => [
        `${stream}/shares`,
        runtime.upload(sharesOf(micro, texts, pooling), [microRows(micro), 1, micro.length]),
      ]),
    );
    const feeds = { ...states, ...shares };
    const pooled = using(feeds, () => engine.programs.pool().run(feeds));
    using(pooled, () =>
      run.forEach(({ rows }, stream) => {
        const values = exactFloats(take(pooled, `${stream}/pooled`));
        rows.forEach(({ row }, index) => {
          const own = values.subarray(index * shape.width, (index + 1) * shape.width);
          vectors[row]!.forEach((_, i, vector) => (vector[i] = own[i]! * gain[i]!));
        });
      }),
    );
  }
  return vectors;
}
