/** Forward and backward passes over runs of micro-batches: what `update` and `score` are made of. */
import type { Channel } from "../../core/policy.ts";
import { drops, type gradientShapes, type Parts } from "../parts.ts";
import { microRows } from "./layout.ts";
import { SALTS_PER_LAYER } from "../transformer/dropout.ts";
import type { Programs } from "./programs.ts";
import { take, type Named, countOf } from "../../core/ops.ts";
import { freeAll, type DeviceTensor, type Tensors } from "../devices/runtime.ts";
import type { ScoreColumns, Run } from "./score.ts";

/** A model as the passes use it: its programs and one set of weights. */
export interface Engine {
  readonly programs: Programs;
  /** Feeds `w/…`, adapters merged when this is first asked for. */
  readonly weights: Tensors;
  /** The same with adapters unmerged. */
  readonly unmerged: Tensors;
  /** Whether there are adapters that would have to be merged for `weights`. */
  readonly merging: boolean;
  /** Lets go of merged matrices, where others do not use them: what follows merges a layer at a time. */
  releaseMerged(): void;
  /** A vector of the decoder as it is, before folding. */
  readonly vector: (name: string) => Float32Array;
  readonly rotary: DeviceTensor;
  readonly pad: number;
  /** Bytes of activations kept between the two halves of a step, over all its runs. */
  readonly budget: number;
  /** Bytes of activations that one run may hold while it is computed; beyond, the model goes layer by layer. */
  readonly run_bytes: number;
  /** Most floats of logits at once. */
  readonly logits: number;
  /** Of the dropout masks of this step. */
  readonly seed: number;
  /** Models that divergences are taken from. */
  other(model: string): Engine;
  /** A run as such a model reads it: after other contexts, where its name says so. */
  readBy(model: string, run: Run): Run;
}
export const partsOf = (engine: Engine): Parts => engine.programs.parts;

/** A run between its forward and its backward half. */
export interface KeptRun {
  readonly run: Run;
  /** Bytes of activations it holds. */
  readonly bytes: number;
  /** Whether something has to be computed again. */
  readonly again: boolean;
  free(): void;
}

export interface Passes {
  /** Channels of every scored token, into the columns that are there. */
  score(run: Run, channels: readonly Channel[], into: ScoreColumns): void;
  /** The same, keeping at most `room` bytes for `backward`. */
  forward(run: Run, channels: readonly Channel[], into: ScoreColumns, room: number): KeptRun;
  /** Gradients of Σ coefficient · channel; releases what was kept. */
  backward(kept: KeptRun, gradients: ScoreColumns, into: Accumulator): void;
  /** Both halves at once, for coefficients that are known. */
  fused(run: Run, gradients: ScoreColumns, into: Accumulator): void;
  /** Normalised final states `<stream>/y` of every token. */
  states(run: Run, ids: Tensors): Record<string, DeviceTensor>;
}

/** What training programs are fed for dropout, in a run of this number: the seed, moved on by whole layers. */
export function dropoutFeeds(
  { programs, seed }: Engine,
  run: number,
  layers = 0,
): Record<string, DeviceTensor> {
  if (!drops(programs.parts)) return {};
  const key = [(seed + run * 0x9e3779b9) | 0, layers * SALTS_PER_LAYER];
  return { seed: programs.runtime.upload(Int32Array.from(key), [2]) };
}

/** Adds up gradients of runs by name; owns the sums. */
export class Accumulator {
  private sums: Record<string, DeviceTensor> = {};
  constructor(private readonly programs: Programs) {}
  /** Takes over the tensors. */
  add(gradients: Record<string, DeviceTensor>): void {
    const both: string[] = [];
    for (const [name, tensor] of Object.entries(gradients)) {
      if (this.sums[name] === undefined) this.sums[name] = tensor;
      else both.push(name);
    }
    if (both.length === 0) return;
    const program = this.programs.accumulate(both.length);
    const feeds: Record<string, DeviceTensor> = {};
    both.forEach((name, index) => {
      feeds[`a/${index}`] = this.sums[name]!;
      feeds[`b/${index}`] = gradients[name]!;
    });
    const results = program.run(feeds);
    freeAll(feeds);
    both.forEach((name, index) => (this.sums[name] = take(results, String(index))));
  }
  /** The sums, zero where nothing had a gradient; undefined where nothing at all had. The caller's to free. */
  finish(shapes: ReturnType<typeof gradientShapes>): Record<string, DeviceTensor> | undefined {
    const sums = this.sums;
    this.sums = {};
    if (Object.keys(sums).length === 0) return undefined;
    const zeros = (extents: readonly number[]): DeviceTensor =>
      this.programs.runtime.upload(new Float32Array(countOf(extents)), extents);
    return Object.fromEntries(
      Object.entries(shapes).map(([name, extents]) => [name, sums[name] ?? zeros(extents)]),
    );
  }
  free(): void {
    freeAll(this.sums);
    this.sums = {};
  }
}

/** Channels with a coefficient, in a fixed order: the order of a program's coefficient columns. */
export const channelsOf = (gradients: ScoreColumns): Channel[] =>
  (Object.keys(gradients) as Channel[]).filter((name) => gradients[name] !== undefined).sort();
/** Whether any channel has a coefficient at a column. */
export function touches(gradients: ScoreColumns): (column: number) => boolean {
  const columns = Object.values(gradients);
  return (at) => columns.some((column) => column !== undefined && column[at] !== 0);
}
export const feedsUnder = (prefix: string, values: Named<DeviceTensor>, names: readonly string[]): Tensors =>
  Object.fromEntries(names.map((name) => [`${prefix}${name}`, take(values, `${prefix}${name}`)]));

/** Bytes of a run's tensors with so many floats a token; a token of a longer row may need more. */
export const bytesOf = (run: Run, perToken: (length: number) => number): number =>
  run.reduce((total, micro) => total + 4 * microRows(micro) * micro.length * perToken(micro.length), 0);
/** What a forward program's results hold for the backward pass. */
export const activations = (results: Named<DeviceTensor>): Record<string, DeviceTensor> =>
  Object.fromEntries(Object.entries(results).filter(([name]) => name.includes("/kept/")));
