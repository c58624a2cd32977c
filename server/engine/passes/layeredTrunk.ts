/** The layers of a model, one at a time: forward, keeping what there is room for, and back. */
import { likeLayer, type Products, embeddingNames, finalNames, layerNames } from "./layeredPrograms.ts";
import {
  activations,
  bytesOf,
  dropoutFeeds,
  feedsUnder,
  partsOf,
  type Accumulator,
  type Engine,
  type KeptRun,
} from "./passes.ts";
import { drops } from "../parts.ts";
import { take } from "../../core/ops.ts";
import { freeAll, under, type DeviceTensor, type Tensors } from "../devices/runtime.ts";
import { using, type Run } from "./score.ts";
import { leanFloats } from "../transformer/forward.ts";

export type Owned = Record<string, DeviceTensor>;

/** What is kept of a layer. */
interface KeptLayer {
  /** `<stream>/kept/…` or, to compute them again, `<stream>/x`. */
  readonly tensors: Owned;
  readonly whole: boolean;
}
export class LayeredRun implements KeptRun {
  /** Undefined where nothing was kept. */
  layers: KeptLayer[] | undefined;
  /** `<stream>/y` and what the final norm's backward pass also needs. */
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
export const streamed = (results: Owned, from: string, to: string): Owned =>
  Object.fromEntries(
    Object.entries(results).flatMap(([name, tensor]) => {
      const [stream, own] = [name.slice(0, name.indexOf("/")), name.slice(name.indexOf("/") + 1)];
      return own === from ? [[`${stream}/${to}`, tensor]] : [];
    }),
  );

export class LayeredTrunk {
  constructor(private readonly engine: Engine) {}
  private get programs() {
    return this.engine.programs;
  }
  private get layers(): number {
    return this.programs.shape.layers;
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
  /** Of one layer: its input, and everything that may be kept of it. */
  private bytes(run: Run): { readonly input: number; readonly full: number } {
    const { shape } = this.programs;
    return {
      input: bytesOf(run, () => shape.width),
      full: bytesOf(run, (length) => leanFloats(shape, length)),
    };
  }
  /** The least bytes that a way back needs: every layer's input. */
  leastBytes(run: Run): number {
    return bytesOf(run, () => (this.layers + 3) * this.programs.shape.width);
  }
  /** How many layers may keep everything in that room next to the inputs of the others; −1: not even those fit. */
  private wholeLayers(run: Run, room: number): number {
    const { input, full } = this.bytes(run);
    const left = room - (this.layers + 2) * input;
    return left < 0 ? -1 : Math.min(this.layers, Math.floor(left / Math.max(1, full - input)));
  }
  /** A layer's own masks: its program bears another layer's number. */
  private seed({ number }: LayeredRun, layer: number): Owned {
    if (number === undefined) return {};
    return dropoutFeeds(this.engine, number, layer - likeLayer(partsOf(this.engine), layer));
  }
  /** The last layers keep everything: theirs is freed first on the way back. */
  forward(kept: LayeredRun, room: number): Owned {
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
      if (keep) layers.push({ tensors: activations(results), whole: true });
      else if (whole >= 0) layers.push({ tensors: x, whole: false });
      if (keep || whole < 0) freeAll(x);
      x = next;
    }
    if (whole >= 0) {
      const { input, full } = this.bytes(run);
      kept.bytes = whole * full + (this.layers - whole + 2) * input;
    }
    return using(x, () => this.programs.finish().run({ ...this.finalWeights, ...x }));
  }
  /** Calls back with the states `<stream>/x` of every token: as embedded, then after each layer. They are freed afterwards. */
  eachLayer(ids: Tensors, visit: (x: Owned) => void): void {
    const products = this.products(false);
    let x = this.embed(ids);
    for (let layer = 0; layer < this.layers; layer++) {
      const before = x;
      const program = this.programs.layerForward(likeLayer(partsOf(this.engine), layer), false, products);
      x = using(before, () => {
        visit(before);
        return program.run({ ...this.layerWeights(layer, products), ...ids, ...before });
      });
    }
    using(x, () => visit(x));
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
  /** From the gradient by the final states, `<stream>/dy`, which it frees, to those by every weight. */
  backward(kept: LayeredRun, dy: Owned, into: Accumulator): void {
    const feeds = { ...this.finalWeights, ...dy, ...kept.final };
    const finished = using(dy, () => this.programs.finishBackward().run(feeds));
    into.add(under(finished, "g/"));
    let dx = streamed(finished, "dx", "dx");
    for (let layer = this.layers - 1; layer >= 0; layer--) dx = this.layerBackward(kept, layer, dx, into);
    if (partsOf(this.engine).adapter === undefined)
      into.add(using(dx, () => this.programs.embedBackward().run({ ...kept.ids, ...dx })));
    else freeAll(dx);
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
}
