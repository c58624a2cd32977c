/** Vectors of texts: a model's final states, those after its last norm, of a text's last token or in the mean. */
import type { Pooling } from "../core/states.ts";
import { microRows, perRun, type MicroBatch } from "./passes/layout.ts";
import { passesOver } from "./passes/layeredPasses.ts";
import { LayeredTrunk, streamed } from "./passes/layeredTrunk.ts";
import type { Engine } from "./passes/passes.ts";
import { take } from "../core/ops.ts";
import { exactFloats, type DeviceTensor, type Runtime, type Tensors } from "./devices/runtime.ts";
import { idFeeds, using } from "./passes/score.ts";
import { foldsFinalGain } from "./transformer/norm.ts";

type Texts = readonly Int32Array[];

/** What each token counts in its text's vector: `[rows, 1, length]`. */
function sharesOf(micro: MicroBatch, texts: Texts, pooling: Pooling): Float32Array {
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

const uploadShares = (
  runtime: Runtime,
  run: readonly MicroBatch[],
  texts: Texts,
  pooling: Pooling,
): Record<string, DeviceTensor> =>
  Object.fromEntries(
    run.map((micro, stream) => [
      `${stream}/shares`,
      runtime.upload(sharesOf(micro, texts, pooling), [microRows(micro), 1, micro.length]),
    ]),
  );

/** Hands out the vector of each of a run's texts. @param results `<stream>/<name>`, let go here */
function eachRow(
  results: Tensors,
  name: string,
  run: readonly MicroBatch[],
  width: number,
  give: (row: number, vector: Float32Array) => void,
): void {
  using(results, () =>
    run.forEach(({ rows }, stream) => {
      const values = exactFloats(take(results, `${stream}/${name}`));
      rows.forEach(({ row }, index) =>
        give(row, Float32Array.from(values.subarray(index * width, (index + 1) * width))),
      );
    }),
  );
}

/** The pooled vectors of a run's texts. @param feeds `<stream>/y`, states of every token, and `<stream>/shares` */
const eachPooled = (
  { programs }: Engine,
  run: readonly MicroBatch[],
  feeds: Tensors,
  give: (row: number, vector: Float32Array) => void,
): void => eachRow(programs.pool().run(feeds), "pooled", run, programs.shape.width, give);

/** Hands each run of the texts to `read`, with `<stream>/y` and `<stream>/shares`. */
function eachRun(
  engine: Engine,
  micros: readonly MicroBatch[],
  texts: Texts,
  pooling: Pooling,
  read: (run: readonly MicroBatch[], feeds: Tensors) => void,
): void {
  const { runtime } = engine.programs;
  for (const run of perRun(micros, runtime.streams, engine.pad)) {
    const ids = idFeeds(runtime, run);
    const states = using(ids, () => passesOver(engine, [run]).states(run, ids));
    const feeds = { ...states, ...uploadShares(runtime, run, texts, pooling) };
    using(feeds, () => read(run, feeds));
  }
}

/** @param micros of `textRows`: every text is in one of them, and none is empty */
export function embeddingsOf(
  engine: Engine,
  micros: readonly MicroBatch[],
  texts: Texts,
  pooling: Pooling,
): Float32Array[] {
  const gain = gainOf(engine);
  const vectors = texts.map(() => new Float32Array(engine.programs.shape.width));
  eachRun(engine, micros, texts, pooling, (run, feeds) =>
    eachPooled(engine, run, feeds, (row, own) => {
      vectors[row] = own.map((value, i) => value * gain[i]!);
    }),
  );
  return vectors;
}

/** Logits of the token after each text. @param micros as above */
export function nextLogitsOf(engine: Engine, micros: readonly MicroBatch[], texts: Texts): Float32Array[] {
  const { programs } = engine;
  const logits: Float32Array[] = [];
  eachRun(engine, micros, texts, "last", (run, feeds) => {
    const results = programs.next().run({ ...feeds, head: take(engine.unmerged, "w/head") });
    eachRow(results, "logits", run, programs.shape.vocabulary, (row, own) => {
      logits[row] = own;
    });
  });
  return logits;
}

/** Means over each text's tokens of the stream: as embedded, then after each layer. @returns by depth, then by text */
export function layerMeansOf(engine: Engine, micros: readonly MicroBatch[], texts: Texts): Float32Array[][] {
  const { runtime, shape } = engine.programs;
  const trunk = new LayeredTrunk(engine);
  const means: Float32Array[][] = Array.from({ length: shape.layers + 1 }, () => []);
  for (const run of perRun(micros, runtime.streams, engine.pad)) {
    const ids = idFeeds(runtime, run);
    const shares = uploadShares(runtime, run, texts, "mean");
    let depth = 0;
    using({ ...ids, ...shares }, () =>
      trunk.eachLayer(ids, (x) => {
        const own = means[depth++]!;
        eachPooled(engine, run, { ...streamed(x, "x", "y"), ...shares }, (row, mean) => {
          own[row] = mean;
        });
      }),
    );
  }
  return means;
}
