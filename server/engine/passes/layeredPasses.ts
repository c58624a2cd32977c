/**
 * Passes layer by layer, with the head in pieces: for models whose activations or logits do not fit at once. Of each
 * layer either its activations are kept for the backward pass or its input alone, from which they are computed again;
 * of the logits never more than a bounded number exist.
 */
import type { Channel } from "../../core/policy.ts";
import { microRows } from "./layout.ts";
import {
  embeddingNames,
  finalNames,
  headNames,
  layerNames,
  likeLayer,
  type Products,
} from "./layeredPrograms.ts";
import {
  channelsOf,
  dropoutFeeds,
  feedsUnder,
  partsOf,
  touches,
  type Accumulator,
  type Engine,
  type KeptRun,
  type Passes,
} from "./passes.ts";
import { drops, wordHeads } from "../parts.ts";
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
import { leanFloats } from "../transformer/forward.ts";
import { WholePasses, runBytes } from "./wholePasses.ts";

type Owned = Record<string, DeviceTensor>;

/** What is kept of a layer. */
interface KeptLayer {
  /** `<stream>/kept/…` or, to compute them again, `<stream>/x`. */
  readonly tensors: Owned;
  readonly whole: boolean;
}
class LayeredRun implements KeptRun {
  /** Undefined where nothing was kept. */
  layers: KeptLayer[] | undefined;
  /** `<stream>/y` and what the final norm's way back needs beside it. */
  final: Owned | undefined;
  bytes = 0;
  again = false;
  constructor(
    readonly run: Run,
    readonly ids: Owned,
    /** Of its dropout masks; undefined: it only scores. */
    readonly number?: number,
  ) {}
  /** Lets go of the activations. */
  release(): void {
    for (const { tensors } of this.layers ?? []) freeAll(tensors);
    freeAll(this.final ?? {});
    this.layers = undefined;
    this.final = undefined;
  }
  free(): void {
    this.release();
    freeAll(this.ids);
  }
}

/** Results `<stream>/<from>` as feeds `<stream>/<to>`. */
const streamed = (results: Owned, from: string, to: string): Owned =>
  Object.fromEntries(
    Object.entries(results).flatMap(([name, tensor]) => {
      const [stream, own] = [name.slice(0, name.indexOf("/")), name.slice(name.indexOf("/") + 1)];
      return own === from ? [[`${stream}/${to}`, tensor]] : [];
    }),
  );

export class LayeredPasses implements Passes {
  /** Runs begun, which number their dropout masks. */
  private runs = 0;
  constructor(private readonly engine: Engine) {}
  private get programs() {
    return this.engine.programs;
  }
  private get layers(): number {
    return this.programs.shape.layers;
  }

  // ── the trunk
  private bytes(run: Run, perToken: (length: number) => number): number {
    return run.reduce(
      (total, micro) => total + 4 * microRows(micro) * micro.length * perToken(micro.length),
      0,
    );
  }
  /** A layer's weights under the names of its program. */
  private layerWeights(layer: number, products: Products): Tensors {
    const parts = partsOf(this.engine);
    const own = under(products === "fed" ? this.engine.weights : this.engine.unmerged, `w/${layer}.`);
    const like = likeLayer(parts, layer);
    const feeds = Object.fromEntries(
      layerNames(parts, like).map((name) => {
        const short = name.slice(name.indexOf(".") + 1);
        return [`w/${name}`, take(own, short)];
      }),
    );
    return { ...feeds, rotary: this.engine.rotary };
  }
  private products(training: boolean): Products {
    if (training && drops(partsOf(this.engine))) return "apart";
    return this.engine.merging ? "merged" : "fed";
  }
  private get finalWeights(): Tensors {
    return feedsUnder("w/", this.engine.unmerged, finalNames(partsOf(this.engine)));
  }
  private embed(ids: Tensors): Owned {
    const feeds = feedsUnder("w/", this.engine.unmerged, embeddingNames(partsOf(this.engine)));
    return this.programs.embed().run({ ...feeds, ...ids });
  }
  /** How many layers may keep everything in that room beside the inputs of the others; −1: not even those fit. */
  private wholeLayers(run: Run, room: number): number {
    const input = this.bytes(run, () => this.programs.shape.width);
    const full = this.bytes(run, (length) => leanFloats(this.programs.shape, length));
    const left = room - (this.layers + 2) * input;
    return left < 0 ? -1 : Math.min(this.layers, Math.floor(left / Math.max(1, full - input)));
  }
  /** A layer's own masks: its program bears another layer's number. */
  private seed({ number }: LayeredRun, layer: number): Owned {
    if (number === undefined) return {};
    return dropoutFeeds(this.engine, number, layer - likeLayer(partsOf(this.engine), layer));
  }
  /** The last layers keep everything: theirs is freed first on the way back. */
  private trunk(kept: LayeredRun, room: number): Owned {
    const { run, ids } = kept;
    const whole = this.wholeLayers(run, room);
    const layers: KeptLayer[] = [];
    if (whole >= 0) kept.layers = layers;
    kept.again = whole < this.layers;
    const products = this.products(kept.number !== undefined);
    let x = this.embed(ids);
    for (let layer = 0; layer < this.layers; layer++) {
      const keep = whole >= 0 && layer >= this.layers - whole;
      const program = this.programs.layerForward(likeLayer(partsOf(this.engine), layer), keep, products);
      const seed = this.seed(kept, layer);
      const results = using(seed, () =>
        program.run({ ...this.layerWeights(layer, products), ...ids, ...x, ...seed }),
      );
      const next = streamed(results, "x", "x");
      const activations = Object.fromEntries(
        Object.entries(results).filter(([name]) => name.includes("/kept/")),
      );
      if (keep) layers.push({ tensors: activations, whole: true });
      else if (whole >= 0) layers.push({ tensors: x, whole: false });
      if (keep || whole < 0) freeAll(x);
      x = next;
    }
    const final = using(x, () => this.programs.finish().run({ ...this.finalWeights, ...x }));
    if (whole >= 0) {
      const input = this.bytes(run, () => this.programs.shape.width);
      const full = this.bytes(run, (length) => leanFloats(this.programs.shape, length));
      kept.bytes = whole * full + (this.layers - whole + 2) * input;
    }
    return final;
  }
  /**
   * Products `<stream>/angles` of means of the unit vectors that the last feed-forward reads.
   * @param feeds `ids`, `gain` and `<stream>/shares`, as `Programs.angles` has them
   */
  angles(ids: Tensors, feeds: Tensors): Owned {
    const last = this.layers - 1;
    const products = this.products(false);
    let x = this.embed(ids);
    for (let layer = 0; layer < last; layer++) {
      const program = this.programs.layerForward(likeLayer(partsOf(this.engine), layer), false, products);
      x = using(x, () => program.run({ ...this.layerWeights(layer, products), ...ids, ...x }));
    }
    const program = this.programs.angles(likeLayer(partsOf(this.engine), last), products);
    return using(x, () => program.run({ ...this.layerWeights(last, products), ...feeds, ...x }));
  }
  states(run: Run, ids: Tensors): Owned {
    const final = this.trunk(new LayeredRun(run, { ...ids }), -1);
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
  /** Scored tokens of a run, in its own rectangles and in those of models that read them behind other contexts. */
  private selections(
    run: Run,
    channels: readonly Channel[],
    wanted?: (column: number) => boolean,
  ): Selection[] {
    const readers = modelsOf(channels).filter((model) => readerOf(model).behind !== undefined);
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
      const final = this.trunk(kept, -1);
      using(final, () => this.readHead(run, kept.ids, final, channels, into));
    });
  }

  forward(run: Run, channels: readonly Channel[], into: ScoreColumns, room: number): KeptRun {
    if (this.programs.lean) this.engine.releaseMerged();
    const kept = new LayeredRun(run, idFeeds(this.programs.runtime, run), this.runs++);
    try {
      const final = this.trunk(kept, room);
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
    if (kept.layers === undefined) {
      // At least every layer's input is kept now: without them there is no way back.
      const inputs = this.bytes(kept.run, () => (this.layers + 3) * this.programs.shape.width);
      kept.final = this.trunk(kept, Math.max(this.engine.run_bytes, inputs));
    }
    const final = kept.final ?? {};
    const dy = this.headBackward(kept.run, kept.ids, final, selections, gradients, into);
    const finished = using(dy, () =>
      this.programs.finishBackward().run({ ...this.finalWeights, ...dy, ...final }),
    );
    into.add(under(finished, "g/"));
    let dx = streamed(finished, "dx", "dx");
    for (let layer = this.layers - 1; layer >= 0; layer--) dx = this.layerBackward(kept, layer, dx, into);
    if (partsOf(this.engine).adapter === undefined)
      into.add(using(dx, () => this.programs.embedBackward().run({ ...kept.ids, ...dx })));
    else freeAll(dx);
    kept.release();
  }
  private layerBackward(kept: LayeredRun, layer: number, dx: Owned, into: Accumulator): Owned {
    const held = kept.layers?.[layer];
    if (held === undefined) throw new Error("internal: a layer's input was not kept");
    const like = likeLayer(partsOf(this.engine), layer);
    const seed = this.seed(kept, layer);
    const products = this.products(true);
    const feeds = { ...this.layerWeights(layer, products), ...kept.ids, ...held.tensors, ...dx, ...seed };
    const results = using({ ...dx, ...held.tensors, ...seed }, () =>
      this.programs.layerBackward(like, held.whole, products).run(feeds),
    );
    const gradients = under(results, "g/");
    into.add(
      Object.fromEntries(
        Object.entries(gradients).map(([name, tensor]) => [
          `${layer}${name.slice(name.indexOf("."))}`,
          tensor,
        ]),
      ),
    );
    return streamed(results, "dx", "dx");
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
