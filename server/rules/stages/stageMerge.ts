import { existsSync } from "node:fs";
import { limits, readText } from "../../lib/inputFile.ts";
import { dirname, join } from "node:path";
import { shownPath } from "../../lib/texts/shownPath.ts";
import { z } from "zod";
import { sibling } from "../nearFile.ts";
import { unknownName } from "../../config/check/report.ts";
import type { Origin } from "../../config/text/node.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import type { MergeSource } from "../../core/blocks/stage.ts";
import type { ConfigModel, StageView } from "../../config/check/model.ts";
import { at as nodeAt, keyOf, type Rule } from "../rule.ts";

/** A size of a model by the name that its config.json has for it. */
type Sizes = Readonly<Record<string, number>>;

/** Where a model lies that is named by its own folder or its checkpoint's. */
const folderOf = (path: string): string | undefined =>
  [path, join(path, "policy")].find((folder) => existsSync(join(folder, "config.json")));

function jsonIn(file: string): unknown {
  try {
    return JSON.parse(readText(file, limits.modelJson));
  } catch {
    // Opening the file reports what is wrong with it.
    return undefined;
  }
}

/** Of a model's or a checkpoint's folder; undefined where it does not tell. */
function sizesIn(path: string): Sizes | undefined {
  const folder = folderOf(path);
  if (folder === undefined) return undefined;
  const json = jsonIn(join(folder, "config.json"));
  if (typeof json !== "object" || json === null) return undefined;
  return Object.fromEntries(
    Object.entries(json).flatMap(([key, value]) =>
      sizeKeys.includes(key) && typeof value === "number" ? [[key, value]] : [],
    ),
  );
}

const sizeKeys: readonly string[] = [
  "hidden_size",
  "num_hidden_layers",
  "intermediate_size",
  "num_attention_heads",
];

function ownSizes({ model: { base, size } }: RunConfig): Sizes | undefined {
  if (base !== "tiny") return sizesIn(base);
  return {
    hidden_size: size.width,
    num_hidden_layers: size.layers,
    intermediate_size: size.hidden,
    num_attention_heads: size.heads,
  };
}

const adapterSchema = z.object({ r: z.number() });

/** What keeps a checkpoint from the mean of adapters of this rank, as far as its files tell. */
function adapterApart(path: string, rank: number): string | undefined {
  const folder = folderOf(path);
  // Opening a folder without a model reports what is wrong with it.
  if (folder === undefined) return undefined;
  const file = join(folder, "adapter_config.json");
  if (!existsSync(file))
    return "The checkpoint has no adapter, but the policy trains one: train all weights, or name a checkpoint of an adapter on the same base.";
  const { data } = adapterSchema.safeParse(jsonIn(file));
  if (data === undefined || data.r === rank) return undefined;
  return `The checkpoint's adapter has rank ${data.r}, the policy's has ${rank}: only adapters of the same rank can be averaged.`;
}

/** The first size in which two models differ, in words. */
function apart(own: Sizes | undefined, other: Sizes | undefined): string | undefined {
  const key = sizeKeys.find(
    (name) => own?.[name] !== undefined && other?.[name] !== undefined && own[name] !== other[name],
  );
  return key === undefined ? undefined : `its ${key} is ${other![key]}, the policy's is ${own![key]}`;
}

interface StageMergeProblem {
  readonly message: string;
  /** Names that would do. */
  readonly known?: readonly string[];
}

function problemOf(
  { config, stages, file }: ConfigModel,
  index: number,
  source: MergeSource,
): StageMergeProblem | undefined {
  const before = stages.slice(0, index);
  switch (source.kind) {
    case "stage": {
      const known = before.filter((view) => !view.config.part).map((view) => view.config.name);
      if (known.includes(source.name)) return undefined;
      return { message: `No earlier stage is called \`${source.name}\`.`, known };
    }
    case "snapshot": {
      const known = [...before, stages[index]!].flatMap((view) => view.config.on_enter.snapshot ?? []);
      if (known.includes(source.name)) return undefined;
      return {
        message: `No stage up to here keeps a snapshot \`${source.name}\`: write \`on_enter: { snapshot: ${source.name} }\` in one.`,
        known,
      };
    }
    case "checkpoint": {
      if (!existsSync(source.path))
        return { message: `There is no checkpoint at \`${shownPath(dirname(file), source.path)}\`.` };
      const why = apart(ownSizes(config), sizesIn(source.path));
      if (why !== undefined)
        return {
          message: `The checkpoint is a model of another size: ${why}. Only models of the same size can be averaged.`,
        };
      const { adapter } = config.model;
      const message = adapter && adapterApart(source.path, adapter.rank);
      return message === undefined ? undefined : { message };
    }
    case "model":
      return undefined;
  }
}

/** The parts of a merge with where they were written. */
function partsOf({ config, written }: StageView): { source: MergeSource; place: readonly string[] }[] {
  const own = config.merge.map(({ source }, i) => ({ source, place: ["merge", String(i)] }));
  const entering = config.on_enter.merge.map(({ source }, i) => ({
    source,
    place: ["on_enter", "merge", String(i)],
  }));
  return [...own, ...entering].filter(({ place }) => nodeAt(written, ...place) !== undefined);
}

/** What may have been meant. */
function nearTo(
  source: MergeSource,
  { known = [] }: StageMergeProblem,
  at: Origin,
): ReturnType<typeof sibling> {
  if (source.kind === "checkpoint" && !existsSync(source.path)) return sibling(source.path, at);
  if (source.kind === "checkpoint" || known.length === 0) return { hint: "", fixes: [] };
  return unknownName(source.name, known, at);
}

function checkParts(model: ConfigModel, view: StageView, index: number): void {
  for (const { source, place } of partsOf(view)) {
    const found = problemOf(model, index, source);
    const node = nodeAt(view.written, ...place, source.kind) ?? nodeAt(view.written, ...place);
    if (found === undefined || node === undefined) continue;
    const { hint, fixes } = nearTo(source, found, node.origin);
    model.report({
      rule: stageMerge.id,
      message: `${found.message} ${hint.trim()}`.trim(),
      key: `${view.path}.${place.join(".")}`,
      at: node.origin,
      fixes,
    });
  }
}

/** What is merged is there, and has the policy's size. */
export const stageMerge: Rule = {
  id: "stage-merge",
  title: "Merge of weights that are missing or of another size",
  why: "A stage of `kind: merge`, and `on_enter: { merge: … }`, make the policy the weighted mean of several weights: of the policy at the end of earlier stages (`stage`), of snapshots that `on_enter: { snapshot: NAME }` keeps, of checkpoints, and of the current policy or its reference. The mean is taken weight by weight, so all must be models of the same size, and the merge weights must not all be 0. Low-rank adapters are averaged by the matrices that they add to their base, reduced to their rank again; a checkpoint must hold an adapter of the same rank, and its base must have the same weights, which the run checks.\n\nName what an earlier stage leaves, or choose a checkpoint of a model of the same size.",
  check(model) {
    for (const [index, view] of model.stages.entries()) {
      const { kind, merge, on_enter } = view.config;
      const key = kind === "merge" || merge.length > 0 ? ["merge"] : ["on_enter", "merge"];
      const at = keyOf(view.written, ...key) ?? keyOf(view.written, "kind") ?? view.written?.origin;
      const parts = [...merge, ...on_enter.merge];
      const say = (message: string): void =>
        at && model.report({ rule: stageMerge.id, message, key: `${view.path}.${key.join(".")}`, at });
      if (kind === "merge" && merge.length === 0)
        say(
          on_enter.merge.length > 0
            ? "A stage of `kind: merge` takes its weights from the key `merge` of the stage, not from `on_enter`: write the list there."
            : "The stage merges nothing: list the weights in `merge`, e.g. `merge: [{ stage: NAME }, { model: policy }]`.",
        );
      if (parts.length === 0) continue;
      if (kind !== "merge" && merge.length > 0)
        say("`merge` belongs to a stage of `kind: merge`; elsewhere write `on_enter: { merge: … }`.");
      if (parts.every(({ weight }) => weight === 0))
        say("All weights of the merge are 0: give at least one another value.");
      checkParts(model, view, index);
    }
  },
};
