/** The settings of choosing on the device, and exact choices from what a decoding step returned. */
import type { DecodeOptions } from "../../core/policy.ts";
import { roundSize } from "../passes/layout.ts";
import { type Program, floats, freeAll, type DeviceTensor, type Tensors } from "../devices/runtime.ts";
import type { Programs } from "../passes/programs.ts";
import { take } from "../../core/ops.ts";
import type { Marks } from "./marks.ts";
import { choosingOf, filtersOf, penaltiesOf } from "./sampling.ts";
import { chooseSpec, choosingKey, type Choosing } from "../transformer/choose.ts";
import { decodeSpec } from "../transformer/decode.ts";
import type { Chosen } from "./written.ts";

/** Candidates that are sorted for a nucleus at first; where it reaches beyond them in any lane, that lane sorts more. */
const FIRST_CANDIDATES = 512;
const MORE_CANDIDATES = 8;
/** When more than this share of lanes asked for more, all get more from then on. */
const MANY = 1 / 8;
/** A share of the mass that no rounding keeps a candidate from. */
const ALL = 2;
const MISSING_FIELD = 4;

/** What a step fed of its lanes. */
export interface LaneFeeds {
  /** As they are after the step. */
  readonly marks: Marks;
  /** Uniform numbers, then inverse temperatures. */
  readonly floats: Float32Array;
  /** Rows of the table of adjustments. */
  readonly adjustment: Int32Array;
}

export class Chooser {
  readonly choosing: Choosing;
  /** Feeds of the decoding program. */
  readonly settings: Record<string, DeviceTensor> = {};
  private candidates: number;

  constructor(
    private readonly programs: Programs,
    decode: DecodeOptions,
    varied = false,
  ) {
    const { runtime, shape } = programs;
    const { top_k, top_p, min_p } = filtersOf(decode);
    this.choosing = choosingOf(decode, varied);
    this.candidates = Math.min(shape.vocabulary, top_k > 0 ? top_k : FIRST_CANDIDATES);
    if (this.choosing.top !== "none") {
      this.settings["topP"] = this.scalar(top_p < 1 ? top_p : ALL);
      this.settings["candidates"] = runtime.upload(Int32Array.of(this.candidates), []);
    }
    if (decode.perturb !== undefined && this.choosing.perturbed.length > 0)
      this.settings["beta"] = this.scalar(decode.perturb.beta);
    const { repetition, presence, frequency } = penaltiesOf(decode);
    if (this.choosing.penalised.seen) this.settings["repetition"] = this.scalar(repetition);
    if (this.choosing.penalised.counts) {
      this.settings["presence"] = this.scalar(presence);
      this.settings["frequency"] = this.scalar(frequency);
    }
    if (this.choosing.floor) this.settings["logMinP"] = this.scalar(Math.log(min_p));
  }
  private scalar(value: number): DeviceTensor {
    return this.programs.runtime.upload(Float32Array.of(value), []);
  }

  decoding(): Program {
    const { runtime, shape } = this.programs;
    return this.programs.get(`decode ${choosingKey(this.choosing)}`, () =>
      decodeSpec(shape, runtime.streams, this.choosing),
    );
  }

  /** Reads and frees a stream's choices, field after field; with `logits` where they were returned. */
  read(results: Tensors, stream: number, lanes: LaneFeeds, table: DeviceTensor | undefined): Float32Array {
    const chosen = take(results, `${stream}/chosen`);
    const values = floats(chosen);
    chosen.free();
    if (this.choosing.top !== "mass") return values;
    const perturbation = results[`${stream}/perturbation`];
    const seen = { logits: take(results, `${stream}/logits`), ...(perturbation && { perturbation }) };
    try {
      this.complete(values, seen, lanes, table);
    } finally {
      freeAll(seen);
    }
    return values;
  }
  /** Chooses again in the lanes whose nucleus reaches beyond the candidates, among more of them. */
  private complete(
    values: Float32Array,
    seen: Tensors,
    lanes: LaneFeeds,
    table: DeviceTensor | undefined,
  ): void {
    const { vocabulary } = this.programs.shape;
    const n = lanes.floats.length / 2;
    const short = (): number[] =>
      Array.from({ length: n }, (_, lane) => lane).filter((lane) => values[MISSING_FIELD * n + lane]! > 0);
    let candidates = this.candidates;
    for (let again = short(); again.length > 0 && candidates < vocabulary; again = short()) {
      if (candidates === this.candidates && again.length > MANY * n) this.raise();
      candidates = Math.min(vocabulary, candidates * MORE_CANDIDATES);
      this.chooseAgain(values, seen, again, candidates, lanes, table);
    }
  }
  private raise(): void {
    this.candidates = Math.min(this.programs.shape.vocabulary, this.candidates * MORE_CANDIDATES);
    this.settings["candidates"]?.free();
    this.settings["candidates"] = this.programs.runtime.upload(Int32Array.of(this.candidates), []);
  }
  private chooseAgain(
    values: Float32Array,
    seen: Tensors,
    again: readonly number[],
    candidates: number,
    lanes: LaneFeeds,
    table: DeviceTensor | undefined,
  ): void {
    const { runtime, shape } = this.programs;
    const n = lanes.floats.length / 2;
    // Few sizes: the last lane takes the place of those that round the number up.
    const size = roundSize(again.length);
    const rows = Int32Array.from({ length: size }, (_, i) => again[Math.min(i, again.length - 1)]!);
    const picked = Float32Array.from(
      { length: 2 * size },
      (_, i) => lanes.floats[Math.floor(i / size) * n + rows[i % size]!]!,
    );
    const own: Record<string, DeviceTensor> = {
      rows: runtime.upload(rows, [size]),
      floats: runtime.upload(picked, [2, size]),
      candidates: runtime.upload(Int32Array.of(candidates), []),
      ...(table === undefined
        ? {}
        : {
            adjustment: runtime.upload(
              rows.map((row) => lanes.adjustment[row]!),
              [size],
            ),
          }),
    };
    const program = this.programs.get(`choose ${choosingKey(this.choosing)}`, () =>
      chooseSpec(shape.vocabulary, this.choosing),
    );
    try {
      const { chosen } = program.run({
        ...this.settings,
        ...lanes.marks,
        ...own,
        ...seen,
        ...(table && { table }),
      });
      const better = floats(chosen!);
      chosen!.free();
      for (let field = 0; field <= MISSING_FIELD; field++)
        again.forEach((lane, i) => (values[field * n + lane] = better[field * size + i]!));
    } finally {
      freeAll(own);
    }
  }

  /** The choice of one of `n` lanes. */
  chosen(values: Float32Array, n: number, lane: number): Chosen {
    return {
      token: values[lane]!,
      logp: values[n + lane]!,
      // Greedy decoding draws from a distribution with all its mass on one token.
      logpSampled: this.choosing.draw === "greedy" ? 0 : values[2 * n + lane]!,
      entropy: values[3 * n + lane]!,
    };
  }
  free(): void {
    freeAll(this.settings);
  }
}
