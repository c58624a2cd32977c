/**
 * Passes layer by layer, with the head in pieces: for models whose activations or logits do not fit at once. Of each
 * layer either its activations are kept for the backward pass or its input alone, from which they are computed again;
 * of the logits never more than a bounded number exist.
 */
import type { Channel } from "../../core/policy.ts";
import { headNames } from "./layeredPrograms.ts";
import { LayeredRun, LayeredTrunk, streamed, type Owned } from "./layeredTrunk.ts";
import {
  channelsOf,
  feedsUnder,
  partsOf,
  touches,
  type Accumulator,
  type Engine,
  type KeptRun,
  type Passes,
} from "./passes.ts";
import { wordHeads } from "../parts.ts";
import { take } from "../../core/ops.ts";
import { freeAll, under, type DeviceTensor, type Tensors } from "../devices/runtime.ts";
import {
  idFeeds,
  modelsOf,
  readChannels,
  selectionFeeds,
  selectionOf,
  slice,
  using,
  weighFeeds,
  widthOf,
  type ScoreColumns,
  type Run,
  type Selection,
} from "./score.ts";
import { readerOf } from "../../core/rows/reader.ts";
import { WholePasses, runBytes } from "./wholePasses.ts";

class LayeredPasses implements Passes {
  /** Runs begun, which number their dropout masks. */
  private runs = 0;
  private readonly trunk: LayeredTrunk;
  constructor(private readonly engine: Engine) {
    this.trunk = new LayeredTrunk(engine);
  }
  private get programs() {
    return this.engine.programs;
  }

  states(run: Run, ids: Tensors): Owned {
    const final = this.trunk.forward(new LayeredRun(run, { ...ids }), -1);
    const states = streamed(final, "y", "y");
    for (const [name, tensor] of Object.entries(final)) if (states[name] === undefined) tensor.free();
    return states;
  }

  // ── the head
  /** Feeds of the head's programs that do not change from piece to piece; `made` are to be freed. */
  private headFeeds(
    run: Run,
    ids: Tensors,
    final: Owned,
    channels: readonly Channel[],
  ): { feeds: Tensors; made: Owned } {
    const made: Owned = {};
    const feeds: Record<string, DeviceTensor> = {
      ...feedsUnder("w/", this.engine.unmerged, headNames(partsOf(this.engine))),
      ...streamed(final, "y", "y"),
    };
    for (const model of modelsOf(channels)) {
      const other = this.engine.other(model);
      feeds[`o/${model}/head`] = take(other.unmerged, "w/head");
      const read = this.engine.readBy(model, run);
      const seen = read === run ? {} : idFeeds(this.programs.runtime, read);
      const states = using(seen, () => passesOver(other, [read]).states(read, read === run ? ids : seen));
      Object.assign(made, streamed(states, "y", `y/${model}`));
    }
    return { feeds: { ...feeds, ...made }, made };
  }
  /** Scored tokens of a run, in its own rectangles and in those of models that read them after other contexts. */
  private selections(
    run: Run,
    channels: readonly Channel[],
    wanted?: (column: number) => boolean,
  ): Selection[] {
    const readers = modelsOf(channels).filter((model) => readerOf(model).teacher !== undefined);
    const found = readers.map((model) => ({ model, run: this.engine.readBy(model, run) }));
    return run.map((micro, stream) => ({
      ...selectionOf(micro, wanted),
      read: Object.fromEntries(
        found.map((one) => [one.model, selectionOf(one.run[stream]!, wanted).positions]),
      ),
    }));
  }
  /** Selections in pieces whose logits are few enough. */
  private pieces(selections: readonly Selection[], channels: readonly Channel[]): Selection[][] {
    const { runtime, shape, parts } = this.programs;
    const width = shape.vocabulary * Math.max(1, widthOf(channels, wordHeads(parts)));
    const most = Math.max(8, Math.floor(this.engine.logits / width / runtime.streams));
    const longest = Math.max(...selections.map(({ columns }) => columns.length));
    const size = Math.ceil(longest / Math.ceil(Math.max(1, longest) / most));
    const pieces: Selection[][] = [];
    for (let from = 0; from < longest; from += size)
      pieces.push(selections.map((selection) => slice(selection, from, from + size)));
    return pieces;
  }
  private readHead(
    run: Run,
    ids: Tensors,
    final: Owned,
    channels: readonly Channel[],
    into: ScoreColumns,
  ): void {
    const { feeds, made } = this.headFeeds(run, ids, final, channels);
    using(made, () => {
      for (const piece of this.pieces(this.selections(run, channels), channels)) {
        const own = selectionFeeds(this.programs.runtime, piece);
        using(own, () => {
          readChannels(
            this.programs.head(channels, modelsOf(channels)).run({ ...feeds, ...own }),
            piece,
            channels,
            into,
          );
        });
      }
    });
  }
  /** The gradient by the final states, `<stream>/dy`. */
  private headBackward(
    run: Run,
    ids: Tensors,
    final: Owned,
    selections: readonly Selection[],
    gradients: ScoreColumns,
    into: Accumulator,
  ): Owned {
    const { runtime, shape } = this.programs;
    const channels = channelsOf(gradients);
    const { feeds, made } = this.headFeeds(run, ids, final, channels);
    const zeros = run.map((micro, stream) => {
      const tokens = micro.ids.length;
      return [
        `${stream}/dy`,
        runtime.upload(new Float32Array(tokens * shape.width), [tokens, shape.width]),
      ] as const;
    });
    let dy: Owned = Object.fromEntries(zeros);
    using(made, () => {
      for (const piece of this.pieces(selections, channels)) {
        const own = {
          ...selectionFeeds(runtime, piece),
          ...weighFeeds(runtime, run, piece, channels, gradients),
        };
        using({ ...own, ...dy }, () => {
          const results = this.programs
            .headBackward(channels, modelsOf(channels))
            .run({ ...feeds, ...own, ...dy });
          into.add(under(results, "g/"));
          dy = streamed(results, "dy", "dy");
        });
      }
    });
    return dy;
  }

  // ── the passes
  score(run: Run, channels: readonly Channel[], into: ScoreColumns): void {
    const kept = new LayeredRun(run, idFeeds(this.programs.runtime, run));
    using(kept.ids, () => {
      const final = this.trunk.forward(kept, -1);
      using(final, () => this.readHead(run, kept.ids, final, channels, into));
    });
  }

  forward(run: Run, channels: readonly Channel[], into: ScoreColumns, room: number): KeptRun {
    if (this.programs.lean) this.engine.releaseMerged();
    const kept = new LayeredRun(run, idFeeds(this.programs.runtime, run), this.runs++);
    try {
      const final = this.trunk.forward(kept, room);
      if (kept.layers !== undefined) kept.final = final;
      this.readHead(run, kept.ids, final, channels, into);
      if (kept.layers === undefined) freeAll(final);
      return kept;
    } catch (error) {
      kept.free();
      throw error;
    }
  }

  backward(kept: KeptRun, gradients: ScoreColumns, into: Accumulator): void {
    if (!(kept instanceof LayeredRun)) throw new Error("internal: a run of other passes");
    const selections = this.selections(kept.run, channelsOf(gradients), touches(gradients));
    if (selections.every(({ columns }) => columns.length === 0)) {
      kept.release();
      return;
    }
    // Without at least every layer's input there is no way back.
    if (kept.layers === undefined)
      kept.final = this.trunk.forward(kept, Math.max(this.engine.run_bytes, this.trunk.leastBytes(kept.run)));
    const dy = this.headBackward(kept.run, kept.ids, kept.final ?? {}, selections, gradients, into);
    this.trunk.backward(kept, dy, into);
    kept.release();
  }
  fused(run: Run, gradients: ScoreColumns, into: Accumulator): void {
    if (this.programs.lean) this.engine.releaseMerged();
    const kept = new LayeredRun(run, idFeeds(this.programs.runtime, run), this.runs++);
    try {
      this.backward(kept, gradients, into);
    } finally {
      kept.free();
    }
  }
}

/** The way that a run's activations and logits allow; of a large model always layer by layer. */
export function passesOver(
  engine: Engine,
  runs: readonly Run[] = [],
  channels: readonly Channel[] = [],
): Passes {
  const { shape, parts } = engine.programs;
  const width = shape.vocabulary * Math.max(1, widthOf(channels, wordHeads(parts)));
  const tokens = Math.max(0, ...runs.map((run) => run.reduce((sum, micro) => sum + micro.ids.length, 0)));
  const bytes = Math.max(0, ...runs.map((run) => runBytes(engine, run)));
  const whole =
    !engine.programs.lean &&
    modelsOf(channels).length === 0 &&
    bytes <= engine.run_bytes &&
    tokens * width <= engine.logits;
  return whole ? new WholePasses(engine) : new LayeredPasses(engine);
}
