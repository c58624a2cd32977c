/** The programs of an optimiser step: unfolding, the norm, clipping, and the method's update rule on each weight. */
import type { Moved, UpdateRule } from "../../core/slots/optimizer.ts";
import { take, type Named, type Ops } from "../../core/ops.ts";
import { prefixed, under, type ProgramSpec } from "../devices/runtime.ts";
import { decays, type TrainedWeights } from "../passes/trained.ts";

type Feeds = Record<string, { readonly dtype: "float"; readonly rank: number }>;
const float = (rank: number): Feeds[string] => ({ dtype: "float", rank });
const feedsOf = (prefix: string, extents: Named<readonly number[]>): Feeds =>
  prefixed(
    prefix,
    Object.fromEntries(Object.entries(extents).map(([name, own]) => [name, float(own.length)])),
  );

/** What of a choice decides its programs. */
export interface Method {
  readonly rule: UpdateRule;
  readonly clipsValues: boolean;
}
export const methodKey = ({ rule, clipsValues }: Method): string =>
  `${rule.key}${clipsValues ? " clipped" : ""}`;

/** Extents of all that is kept, by `name of the value / name of the weight`. */
export const stateShapes = (rule: UpdateRule, weights: TrainedWeights["weights"]): Named<readonly number[]> =>
  Object.fromEntries(
    Object.entries(weights).flatMap(([weight, extents]) =>
      Object.entries(rule.state(extents)).map(([name, own]) => [`${name}/${weight}`, own]),
    ),
  );

const scalarNames = ({ rule, clipsValues }: Method): string[] => [
  ...Object.keys(rule.scalars(1, 1)),
  "clip",
  ...(clipsValues ? ["bound"] : []),
];

/** One weight's update, its gradient clipped: by the global norm's factor, then element by element. */
function moveOne<T>(
  ops: Ops<T>,
  { rule, clipsValues }: Method,
  extents: readonly number[],
  at: { weight: T; gradient: T; factor: T; state: Named<T>; scalars: Named<T> },
): Moved<T> {
  const scaled = ops.mul(at.gradient, at.factor);
  const bound = clipsValues ? take(at.scalars, "bound") : undefined;
  const gradient = bound === undefined ? scaled : ops.maximum(ops.minimum(scaled, bound), ops.neg(bound));
  return rule.move(ops, { ...at, gradient, extents, decays: decays(extents) });
}

const normOf = <T>(ops: Ops<T>, gradients: Named<T>): T =>
  ops.sqrt(ops.addAll(Object.values(gradients).map((gradient) => ops.sumEverything(ops.square(gradient)))));

const gradientFeeds = ({ weights, frozen = {}, gradients }: TrainedWeights): Feeds => ({
  ...feedsOf("w/", { ...weights, ...frozen }),
  ...prefixed("g/", Object.fromEntries(Object.entries(gradients).map(([name, rank]) => [name, float(rank)]))),
});

/** Weights, state and gradients as they come → the next weights and state, and the norm before clipping. */
export const wholeSpec = (trained: TrainedWeights, method: Method): ProgramSpec => ({
  name: `update (${methodKey(method)})`,
  feeds: {
    ...gradientFeeds(trained),
    ...feedsOf("s/", stateShapes(method.rule, trained.weights)),
    ...prefixed("x/", Object.fromEntries(scalarNames(method).map((name) => [name, float(0)]))),
  },
  crossing: ["norm"],
  build<T>(ops: Ops<T>, feeds: Named<T>) {
    const gradients = trained.unfold(ops, under(feeds, "w/"), under(feeds, "g/"));
    const norm = normOf(ops, gradients);
    const scalars = under(feeds, "x/");
    // The clip over the norm, at most 1; the small number is torch's.
    const factor = ops.minimum(
      ops.div(take(scalars, "clip"), ops.shift(norm, 1e-6)),
      ops.floats(Float32Array.of(1), []),
    );
    const results: Record<string, T> = { norm };
    for (const [name, extents] of Object.entries(trained.weights)) {
      const state = Object.fromEntries(
        Object.keys(method.rule.state(extents)).map((own) => [own, take(feeds, `s/${own}/${name}`)]),
      );
      const gradient = take(gradients, name);
      const weight = take(feeds, `w/${name}`);
      const moved = moveOne(ops, method, extents, { weight, gradient, factor, state, scalars });
      results[`w/${name}`] = moved.weight;
      for (const [own, value] of Object.entries(moved.state)) results[`s/${own}/${name}`] = value;
    }
    return results;
  },
});

/** Gradients as they come → gradients by the trained weights, and their norm. */
export const unfoldSpec = (trained: TrainedWeights): ProgramSpec => ({
  name: "gradient and norm",
  feeds: gradientFeeds(trained),
  crossing: ["norm"],
  build(ops, feeds) {
    const gradients = trained.unfold(ops, under(feeds, "w/"), under(feeds, "g/"));
    const own = Object.fromEntries(Object.keys(trained.weights).map((name) => [name, take(gradients, name)]));
    return { ...prefixed("g/", own), norm: normOf(ops, own) };
  },
});

/** One weight of these extents, with the factor of clipping known. */
export const singleSpec = (extents: readonly number[], method: Method): ProgramSpec => ({
  name: `update of [${extents.join(", ")}] (${methodKey(method)})`,
  feeds: {
    weight: float(extents.length),
    gradient: float(extents.length),
    factor: float(0),
    ...feedsOf("s/", method.rule.state(extents)),
    ...prefixed("x/", Object.fromEntries(scalarNames(method).map((name) => [name, float(0)]))),
  },
  build(ops, feeds) {
    const { weight, state } = moveOne(ops, method, extents, {
      weight: take(feeds, "weight"),
      gradient: take(feeds, "gradient"),
      factor: take(feeds, "factor"),
      state: under(feeds, "s/"),
      scalars: under(feeds, "x/"),
    });
    return { weight, ...prefixed("s/", state) };
  },
});

/** A gradient and noise of its extents → their sum. */
export const noiseSpec = (rank: number): ProgramSpec => ({
  name: `noise of rank ${rank}`,
  feeds: { gradient: float(rank), noise: float(rank) },
  build: (ops, feeds) => ({ sum: ops.add(take(feeds, "gradient"), take(feeds, "noise")) }),
});
