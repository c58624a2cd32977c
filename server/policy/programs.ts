/**
 * The programs that training and scoring run. Each takes one micro-batch per stream (feeds `0/ids`, `1/ids`, …): the
 * streams share no operation but the weights, so a runtime may compute them side by side.
 */
import type { Ops } from "./ops.ts";
import {
  prefixed,
  take,
  under,
  type Named,
  type Program,
  type ProgramSpec,
  type Runtime,
} from "./runtime.ts";
import { backward } from "./transformer/backward.ts";
import { fold, foldedNames, unfold } from "./transformer/fold.ts";
import { forward, keptRanks } from "./transformer/forward.ts";
import { channels, logitsGradient, type Detail } from "./transformer/head.ts";
import { weightShapes, type Shape } from "./transformer/weights.ts";

type Feeds = Record<string, { dtype: "float" | "int"; rank: number }>;
const float = (rank: number): Feeds[string] => ({ dtype: "float", rank });
const int = (rank: number): Feeds[string] => ({ dtype: "int", rank });

const foldedFeeds = (shape: Shape): Feeds =>
  prefixed("w/", Object.fromEntries(foldedNames(shape).map((name) => [name, float(2)])));
const weightFeeds = (shape: Shape, prefix: string): Feeds =>
  prefixed(
    prefix,
    Object.fromEntries(
      Object.entries(weightShapes(shape)).map(([name, extents]) => [name, float(extents.length)]),
    ),
  );

/** Feeds of every stream under its number. */
export function perStream(streams: number, feeds: Feeds): Feeds {
  return Object.assign({}, ...Array.from({ length: streams }, (_, stream) => prefixed(`${stream}/`, feeds)));
}
export const streamNumbers = (streams: number): number[] =>
  Array.from({ length: streams }, (_, stream) => stream);

interface StreamRun<T> {
  readonly kept: Record<string, T>;
  readonly logits: T;
}
function runForward<T>(ops: Ops<T>, shape: Shape, feeds: Named<T>, own: Named<T>): StreamRun<T> {
  const folded = under(feeds, "w/");
  const kept = forward(ops, shape, folded, take(own, "ids"), take(feeds, "rotary"));
  return { kept, logits: ops.matmul(take(kept, "y"), take(folded, "head"), false, true) };
}
function runBackward<T>(
  ops: Ops<T>,
  shape: Shape,
  detail: Detail,
  feeds: Named<T>,
  own: Named<T>,
  { kept, logits }: StreamRun<T>,
): Record<string, T> {
  const dLogits = logitsGradient(ops, detail, logits, take(own, "targets"), take(own, "coefficients"));
  return backward(ops, shape, under(feeds, "w/"), take(own, "ids"), take(feeds, "rotary"), kept, dLogits);
}
function sumOverStreams<T>(ops: Ops<T>, gradients: readonly Record<string, T>[]): Record<string, T> {
  const names = Object.keys(gradients[0] ?? {});
  return Object.fromEntries(names.map((name) => [name, ops.addAll(gradients.map((of) => take(of, name)))]));
}

const rows: Feeds = { ids: int(2), targets: int(1) };
const weighedRows: Feeds = { ...rows, coefficients: float(2) };

/** weights → matrices the other programs multiply by. */
const foldSpec = (shape: Shape): ProgramSpec => ({
  name: "fold",
  feeds: weightFeeds(shape, ""),
  build: (ops, feeds) => fold(ops, shape, feeds),
});

/** rows → channels; with `keep`, the activations too. */
const scoreSpec = (shape: Shape, streams: number, detail: Detail, keep: boolean): ProgramSpec => ({
  name: `${keep ? "forward" : "score"} (${detail})`,
  feeds: { ...foldedFeeds(shape), rotary: float(3), ...perStream(streams, rows) },
  crossing: ["channels"],
  build<T>(ops: Ops<T>, feeds: Named<T>) {
    const results: Record<string, T> = {};
    for (const stream of streamNumbers(streams)) {
      const own = under(feeds, `${stream}/`);
      const { kept, logits } = runForward(ops, shape, feeds, own);
      results[`${stream}/channels`] = channels(ops, detail, logits, take(own, "targets"));
      if (keep) Object.assign(results, prefixed(`${stream}/kept/`, { ...kept, logits }));
    }
    return results;
  },
});

/** kept activations and coefficients → gradients by the folded matrices, summed over streams. */
const backwardSpec = (shape: Shape, streams: number, detail: Detail): ProgramSpec => {
  const kept = Object.fromEntries(
    Object.entries({ ...keptRanks(shape), logits: 2 }).map(([name, rank]) => [`kept/${name}`, float(rank)]),
  );
  return {
    name: `backward (${detail})`,
    feeds: { ...foldedFeeds(shape), rotary: float(3), ...perStream(streams, { ...weighedRows, ...kept }) },
    crossing: ["coefficients"],
    build(ops, feeds) {
      return sumOverStreams(
        ops,
        streamNumbers(streams).map((stream) => {
          const own = under(feeds, `${stream}/`);
          return runBackward(ops, shape, detail, feeds, own, {
            kept: under(own, "kept/"),
            logits: take(own, "kept/logits"),
          });
        }),
      );
    },
  };
};

/** rows and coefficients → gradients, forward and backward in one. */
const fusedSpec = (shape: Shape, streams: number, detail: Detail): ProgramSpec => ({
  name: `forward and backward (${detail})`,
  feeds: { ...foldedFeeds(shape), rotary: float(3), ...perStream(streams, weighedRows) },
  crossing: ["coefficients"],
  build(ops, feeds) {
    return sumOverStreams(
      ops,
      streamNumbers(streams).map((stream) => {
        const own = under(feeds, `${stream}/`);
        return runBackward(ops, shape, detail, feeds, own, runForward(ops, shape, feeds, own));
      }),
    );
  },
});

/** a + b, value by value. */
const accumulateSpec = (shape: Shape): ProgramSpec => {
  const names = foldedNames(shape);
  return {
    name: "accumulate",
    feeds: {
      ...prefixed("a/", Object.fromEntries(names.map((name) => [name, float(2)]))),
      ...prefixed("b/", Object.fromEntries(names.map((name) => [name, float(2)]))),
    },
    build: (ops, feeds) =>
      Object.fromEntries(
        names.map((name) => [name, ops.add(take(feeds, `a/${name}`), take(feeds, `b/${name}`))]),
      ),
  };
};

/** folded gradients → gradients by the weights, as tests read them. */
const gradientSpec = (shape: Shape): ProgramSpec => ({
  name: "gradient",
  feeds: {
    ...weightFeeds(shape, "w/"),
    ...prefixed("g/", Object.fromEntries(foldedNames(shape).map((name) => [name, float(2)]))),
  },
  build: (ops, feeds) => unfold(ops, shape, under(feeds, "w/"), under(feeds, "g/")),
});

/** average · decay + weights · (1 − decay). */
const averageSpec = (shape: Shape): ProgramSpec => ({
  name: "average",
  feeds: { ...weightFeeds(shape, "a/"), ...weightFeeds(shape, "w/"), decay: float(0) },
  build(ops, feeds) {
    const mixed = (name: string) => {
      const average = take(feeds, `a/${name}`);
      const weight = take(feeds, `w/${name}`);
      return ops.add(weight, ops.mul(take(feeds, "decay"), ops.sub(average, weight)));
    };
    return Object.fromEntries(Object.keys(weightShapes(shape)).map((name) => [name, mixed(name)]));
  },
});

/** The programs of one model; each is compiled when it is first wanted. */
export class Programs {
  private readonly compiled = new Map<string, Program>();
  constructor(
    readonly runtime: Runtime,
    readonly shape: Shape,
  ) {}
  get(key: string, spec: () => ProgramSpec): Program {
    const program = this.compiled.get(key) ?? this.runtime.compile(spec());
    this.compiled.set(key, program);
    return program;
  }
  private get streams(): number {
    return this.runtime.streams;
  }
  fold = (): Program => this.get("fold", () => foldSpec(this.shape));
  score = (detail: Detail): Program =>
    this.get(`score ${detail}`, () => scoreSpec(this.shape, this.streams, detail, false));
  forward = (detail: Detail): Program =>
    this.get(`forward ${detail}`, () => scoreSpec(this.shape, this.streams, detail, true));
  backward = (detail: Detail): Program =>
    this.get(`backward ${detail}`, () => backwardSpec(this.shape, this.streams, detail));
  fused = (detail: Detail): Program =>
    this.get(`fused ${detail}`, () => fusedSpec(this.shape, this.streams, detail));
  accumulate = (): Program => this.get("accumulate", () => accumulateSpec(this.shape));
  gradient = (): Program => this.get("gradient", () => gradientSpec(this.shape));
  average = (): Program => this.get("average", () => averageSpec(this.shape));
}
