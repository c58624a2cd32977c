/** Weights of a run that are kept under a name, and the mean of several of them. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../../../shared/lib/errors.ts";
import { contextOf } from "../../algorithm/algorithm.ts";
import { create } from "../../core/create.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import type { StageConfig } from "../../core/config/stageConfig.ts";
import { openPolicy, type TrainablePolicy } from "../../engine/index.ts";
import { randomStream } from "../../lib/random.ts";
import { innerProduct, lowRankMean, matrix, type Product } from "./lowRankMean.ts";
import type { MergePart, MergeSource } from "../../core/blocks/stage.ts";

type Values = Readonly<Record<string, Float32Array>>;

/** Names of snapshots: no model of the registry can have them, for they hold a dot, and any file system takes them. */
const snapshotName = (kind: "stage" | "snapshot", name: string): string =>
  `${kind}.${encodeURIComponent(name)}`;

const mergesOf = (stages: readonly StageConfig[]): MergePart[] =>
  stages.flatMap(({ merge, on_enter }) => [...merge, ...on_enter.merge]);

/** Keeps the policy as a stage left it, where a later one merges it. */
export async function keepStage(
  policy: TrainablePolicy,
  { stages }: RunConfig,
  index: number,
): Promise<void> {
  const { name } = stages[index]!;
  const wanted = mergesOf(stages.slice(index + 1)).some(
    ({ source }) => source.kind === "stage" && source.name === name,
  );
  if (wanted) await policy.snapshot(snapshotName("stage", name));
}

export const keepSnapshot = (policy: TrainablePolicy, name: string): Promise<void> =>
  policy.snapshot(snapshotName("snapshot", name));

const called = (source: MergeSource): string =>
  source.kind === "checkpoint" ? source.path : `${source.kind} ${source.name}`;

async function valuesOf(policy: TrainablePolicy, config: RunConfig, source: MergeSource): Promise<Values> {
  if (source.kind === "checkpoint") return checkpointValues(policy, config, source.path);
  const name = source.kind === "model" ? source.name : snapshotName(source.kind, source.name);
  if (name !== "policy" && !policy.snapshots.includes(name))
    throw new UserError(`the run has no weights of ${called(source)} to merge`, {
      code: "merge-missing",
      action: "Merge an earlier stage, or a snapshot that an earlier stage keeps.",
    });
  return policy.readTrained(name);
}

/** A run's checkpoint holds the policy in a folder of its own; that folder itself will do as well. */
const modelIn = (path: string): string => {
  const policy = join(path, "policy");
  return existsSync(join(policy, "config.json")) ? policy : path;
};

async function checkpointValues(policy: TrainablePolicy, config: RunConfig, path: string): Promise<Values> {
  if (config.model.adapter !== undefined) return policy.readAdapterIn(modelIn(path));
  const random = randomStream(config.seed, "optimizer");
  const other = await openPolicy({
    model: { ...config.model, base: modelIn(path), adapter: undefined },
    optimizer: create(config.top.update.optimizer, contextOf(config.top, { random })),
    backend: config.engine.backend,
    threads: config.engine.threads,
    seed: config.seed,
    sharesWith: policy,
  });
  try {
    return other.readTrained();
  } finally {
    other.close();
  }
}

/** @throws UserError where the two do not have the same weights in the same sizes */
function checkShape(own: Values, other: Values, name: string): void {
  const names = [...new Set([...Object.keys(own), ...Object.keys(other)])];
  const apart = names.find((weight) => own[weight]?.length !== other[weight]?.length);
  if (apart === undefined) return;
  const size = (values: Values): string =>
    values[apart] === undefined ? "does not have it" : `has ${values[apart].length} values of it`;
  throw new UserError(
    `${name} cannot be merged into the policy: of ${apart}, the policy ${size(own)} and ${name} ${size(other)}.`,
    { code: "merge-shape", action: "Merge models of the same size: change `model`, or leave this one out." },
  );
}

/** θ = Σ w_i θ_i / Σ w_i, in float64, by name. */
export function weightedMean(parts: readonly { readonly values: Values; readonly weight: number }[]): Values {
  const sum = parts.reduce((total, { weight }) => total + weight, 0);
  const [first] = parts;
  if (first === undefined || !(sum > 0)) throw new Error("a mean of nothing");
  return Object.fromEntries(
    Object.entries(first.values).map(([name, { length }]) => {
      const mean = new Float64Array(length);
      for (const { values, weight } of parts) {
        const own = values[name]!;
        for (let i = 0; i < length; i++) mean[i]! += (weight / sum) * own[i]!;
      }
      return [name, Float32Array.from(mean)];
    }),
  );
}

/** Names of what an adapter multiplies, without .A and .B. */
const adapted = (values: Values): string[] =>
  Object.keys(values).flatMap((name) => (name.endsWith(".A") ? [name.slice(0, -2)] : []));
const productOf = (values: Values, name: string, rank: number): Product => ({
  a: matrix(values[`${name}.A`]!, values[`${name}.A`]!.length / rank),
  b: matrix(values[`${name}.B`]!, rank),
});

/**
 * Adapters are averaged as what they add, A·B, and brought back to their rank; what else trains, weight by weight.
 * @returns also the part of the mean's norm that the rank leaves out
 */
export function adapterMean(
  parts: readonly { readonly values: Values; readonly weight: number }[],
  rank: number,
): { readonly mean: Values; readonly lost: number } {
  const sum = parts.reduce((total, { weight }) => total + weight, 0);
  const mean = { ...weightedMean(parts) };
  let [whole, lost] = [0, 0];
  for (const name of adapted(mean)) {
    const found = lowRankMean(
      parts.map(({ values }) => productOf(values, name, rank)),
      parts.map(({ weight }) => weight / sum),
    );
    mean[`${name}.A`] = Float32Array.from(found.a.values);
    mean[`${name}.B`] = Float32Array.from(found.b.values);
    whole += found.whole;
    lost += found.lost;
  }
  return { mean, lost: whole === 0 ? 0 : Math.sqrt(lost / whole) };
}

/** ‖a − b‖ / ‖a‖ over what the adapters add. */
function adapterMoved(a: Values, b: Values, rank: number): number {
  let [apart, size] = [0, 0];
  for (const name of adapted(a)) {
    const [one, other] = [productOf(a, name, rank), productOf(b, name, rank)];
    const own = innerProduct(one, one);
    size += own;
    apart += own + innerProduct(other, other) - 2 * innerProduct(one, other);
  }
  return size === 0 ? 0 : Math.sqrt(Math.max(0, apart) / size);
}

/** ‖a − b‖ / ‖a‖ over all weights. */
function moved(a: Values, b: Values): number {
  let [apart, size] = [0, 0];
  for (const [name, values] of Object.entries(a))
    for (let i = 0; i < values.length; i++) {
      apart += (values[i]! - b[name]![i]!) ** 2;
      size += values[i]! ** 2;
    }
  return size === 0 ? 0 : Math.sqrt(apart / size);
}

/**
 * The policy becomes the weighted mean; its optimiser forgets moments of weights that are no more.
 * @returns `merge/moved`: how far the policy went, relative to the norm of its weights or of what its adapter adds; under an
 * adapter `merge/lost`, the part of the mean's norm that the adapter's rank leaves out
 * @throws UserError where weights are missing or of another size
 */
export async function mergeInto(
  policy: TrainablePolicy,
  config: RunConfig,
  parts: readonly MergePart[],
): Promise<Record<string, number>> {
  const own = policy.readTrained();
  const read: { values: Values; weight: number }[] = [];
  for (const { source, weight } of parts) {
    const values = await valuesOf(policy, config, source);
    checkShape(own, values, called(source));
    read.push({ values, weight });
  }
  const rank = config.model.adapter?.rank;
  const { mean, ...metrics } = rank === undefined ? wholeMean(own, read) : lowMean(own, read, rank);
  policy.adopt(mean, policy.version + 1);
  policy.resetOptimizer();
  return metrics;
}

type Parts = Parameters<typeof weightedMean>[0];

function wholeMean(own: Values, parts: Parts): { mean: Values; "merge/moved": number } {
  const mean = weightedMean(parts);
  return { mean, "merge/moved": moved(own, mean) };
}
function lowMean(
  own: Values,
  parts: Parts,
  rank: number,
): { mean: Values; "merge/moved": number; "merge/lost": number } {
  const { mean, lost } = adapterMean(parts, rank);
  return { mean, "merge/moved": adapterMoved(own, mean, rank), "merge/lost": lost };
}
