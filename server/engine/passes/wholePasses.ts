/** Passes that take a whole micro-batch in one run of one program: the fast way for small models. */
import type { Channel } from "../../core/policy.ts";
import { drops } from "../parts.ts";
import {
  activations,
  bytesOf,
  channelsOf,
  dropoutFeeds,
  partsOf,
  touches,
  type Accumulator,
  type Engine,
  type KeptRun,
  type Passes,
} from "./passes.ts";
import { freeAll, type DeviceTensor, type Tensors } from "../devices/runtime.ts";
import {
  idFeeds,
  readChannels,
  selectionFeeds,
  selectionOf,
  using,
  weighFeeds,
  type ScoreColumns,
  type Run,
  type Selection,
} from "./score.ts";
import { keptFloats } from "../transformer/forward.ts";

/** Bytes of activations of one run. */
export const runBytes = (engine: Engine, run: Run): number =>
  bytesOf(run, (length) => keptFloats(engine.programs.shape, length));

class WholeRun implements KeptRun {
  constructor(
    readonly run: Run,
    readonly selections: readonly Selection[],
    readonly feeds: Tensors,
    /** Undefined: beyond the budget, to be computed again. */
    readonly activations: Tensors | undefined,
    readonly bytes: number,
  ) {}
  get again(): boolean {
    return this.activations === undefined;
  }
  free(): void {
    freeAll(this.feeds);
    if (this.activations !== undefined) freeAll(this.activations);
  }
}

export class WholePasses implements Passes {
  /** Runs started, which number their dropout masks. */
  private runs = 0;
  constructor(private readonly engine: Engine) {}
  private get training(): Tensors {
    const { engine } = this;
    return drops(partsOf(engine)) ? { ...engine.unmerged, rotary: engine.rotary } : this.fixed;
  }
  private get fixed(): Tensors {
    return { ...this.engine.weights, rotary: this.engine.rotary };
  }
  private feeds(run: Run, selections: readonly Selection[]): Record<string, DeviceTensor> {
    const { runtime } = this.engine.programs;
    return { ...idFeeds(runtime, run), ...selectionFeeds(runtime, selections) };
  }

  states(_: Run, ids: Tensors): Record<string, DeviceTensor> {
    return this.engine.programs.states().run({ ...this.fixed, ...ids });
  }

  score(run: Run, channels: readonly Channel[], into: ScoreColumns): void {
    const selections = run.map((micro) => selectionOf(micro));
    const feeds = this.feeds(run, selections);
    using(feeds, () => {
      const results = this.engine.programs.forward(channels, false, false).run({ ...this.fixed, ...feeds });
      readChannels(results, selections, channels, into);
    });
  }

  forward(run: Run, channels: readonly Channel[], into: ScoreColumns, room: number): KeptRun {
    const bytes = runBytes(this.engine, run);
    const keep = bytes <= room;
    const selections = run.map((micro) => selectionOf(micro));
    const feeds = { ...this.feeds(run, selections), ...dropoutFeeds(this.engine, this.runs++) };
    try {
      const program = this.engine.programs.forward(channels, keep, true);
      const results = program.run({ ...this.training, ...feeds });
      readChannels(results, selections, channels, into);
      return new WholeRun(run, selections, feeds, keep ? activations(results) : undefined, keep ? bytes : 0);
    } catch (error) {
      freeAll(feeds);
      throw error;
    }
  }

  backward(kept: KeptRun, gradients: ScoreColumns, into: Accumulator): void {
    if (!(kept instanceof WholeRun)) throw new Error("internal: a run of other passes");
    const { activations: held } = kept;
    if (held === undefined) {
      this.fused(kept.run, gradients, into, kept.feeds["seed"]);
      return;
    }
    const touched = touches(gradients);
    if (!kept.selections.some(({ columns }) => columns.some(touched))) return;
    const channels = channelsOf(gradients);
    const { programs } = this.engine;
    const weighing = weighFeeds(programs.runtime, kept.run, kept.selections, channels, gradients);
    using(weighing, () => {
      const feeds = { ...this.training, ...kept.feeds, ...held, ...weighing };
      into.add(programs.backward(channels).run(feeds));
    });
  }

  fused(run: Run, gradients: ScoreColumns, into: Accumulator, seed?: DeviceTensor): void {
    const selections = run.map((micro) => selectionOf(micro, touches(gradients)));
    if (selections.every(({ columns }) => columns.length === 0)) return;
    const channels = channelsOf(gradients);
    const { programs } = this.engine;
    const made = seed === undefined ? dropoutFeeds(this.engine, this.runs++) : {};
    const feeds = {
      ...this.feeds(run, selections),
      ...made,
      ...weighFeeds(programs.runtime, run, selections, channels, gradients),
    };
    using(feeds, () => {
      const more = seed === undefined ? {} : { seed };
      into.add(programs.fused(channels).run({ ...this.training, ...feeds, ...more }));
    });
  }
}
