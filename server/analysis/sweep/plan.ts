/** A sweep's runs as they are to be made, and how each is known again among the runs of a store. */
import { dirname, isAbsolute } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Json, JsonObject } from "../../../shared/lib/json.ts";
import { assignments, sweepTrials, type SweepTrial } from "../../config/sweep/trials.ts";
import { betterWay } from "../../core/blocks/checkpoint.ts";
import type { SweepConfig } from "../../core/blocks/sweep.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import { fingerprint } from "../../core/fingerprint.ts";
import { liesIn } from "../../../shared/lib/liesIn.ts";
import { relativePath } from "../../../shared/lib/slashes.ts";

export interface PlannedTrial extends SweepTrial {
  /** On top of what was set for all of them. */
  readonly set: readonly string[];
  /** Its config, but for the seed. */
  readonly tree: JsonObject;
}

export interface SweepPlan {
  /** Equal for equal configs, whatever their seed and sweep: one that has grown keeps the runs it has. */
  readonly id: string;
  readonly tag: string;
  readonly file: string;
  readonly sweep: SweepConfig;
  readonly better: "max" | "min";
  readonly trials: readonly PlannedTrial[];
}

/** @param load the config with these values set as well */
export function planSweep(
  config: RunConfig,
  sweep: SweepConfig,
  load: (set: readonly string[]) => RunConfig,
): SweepPlan {
  const trees = new Map<string, JsonObject>();
  const treeOf = (set: readonly string[]): JsonObject => {
    const key = set.join("\n");
    const tree = trees.get(key) ?? comparable(load(set).tree, config.file);
    trees.set(key, tree);
    return tree;
  };
  const trials = sweepTrials(sweep, config.seed).map((trial) => {
    const set = assignments(trial.choice);
    return { ...trial, set, tree: treeOf(set) };
  });
  const id = sweepId(config);
  const { file } = config;
  return { id, tag: sweepTag(id), file, sweep, better: betterWay(sweep.metric), trials };
}

/** By which the runs of a sweep are found: `tag == "sweep:ID"`. */
export const sweepTag = (id: string): string => `sweep:${id}`;

export const sweepId = ({ name, tree, file }: Pick<RunConfig, "name" | "tree" | "file">): string =>
  `${name.replaceAll(/\s+/g, "-")}-${fingerprint(comparable(tree, file)).slice(0, 6)}`;

/** A config without what tells no two experiments apart, with its files as they lie from its folder: a project may move. */
export function comparable(tree: JsonObject, file: string): JsonObject {
  const { seed: _seed, name: _name, ...rest } = tree;
  const folder = dirname(file);
  return JSON.parse(
    JSON.stringify(rest, (_, value: Json) =>
      typeof value === "string" && isAbsolute(value) && liesIn(value, folder)
        ? `./${relativePath(folder, value)}`
        : value,
    ),
  );
}

/** Whether a run of the store is this trial. */
export const isTrial = (
  { tree, seed }: PlannedTrial,
  run: { readonly seed: number | undefined; readonly tree: JsonObject },
): boolean => run.seed === seed && isDeepStrictEqual(run.tree, tree);
