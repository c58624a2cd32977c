/** Checks a merged tree with its stages, and builds from it what the run and the rules read. */
import { externalEngines } from "../../../shared/run/trainers.ts";
import type { Json, JsonObject } from "../../../shared/lib/json.ts";
import type { BuiltTop, StageTree } from "../build/types.ts";
import { buildBody, buildRun, buildStage, isOwnCourse, stemOf } from "../build/build.ts";
import { Checker } from "./check.ts";
import { grammar, stageBlocks } from "../grammar/grammar.ts";
import { stageItem } from "../../core/blocks/body.ts";
import type { MergeProblem } from "../merge.ts";
import { child, isNull, mapNode, textOf, withoutEntry, type MapNode, type Origin } from "../text/node.ts";
import type { CheckedTree } from "../build/reader.ts";
import type { Report } from "./report.ts";
import { crossfaded } from "../build/crossfade.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import type { StageConfig } from "../../core/config/stageConfig.ts";
import type { StageView } from "./model.ts";
import { bodyOf, isObject, stageTrees, withDefaults, writtenJson } from "../stages.ts";

export interface Examined {
  /** The tree with its defaults, and what checking it gave. */
  readonly top: CheckedTree;
  readonly stages: readonly StageTree[];
  /** Each stage's blocks; undefined for the implied stage of a config without stages: it has the top level's. */
  readonly checked: readonly (CheckedTree | undefined)[];
  readonly written: readonly JsonObject[];
}

type MergeReport = (problem: MergeProblem) => void;

export function examine(root: MapNode, file: string, report: Report, merging: MergeReport): Examined {
  const full = withDefaults(root);
  const checker = new Checker(report);
  checker.downloads = trainsElsewhere(full);
  const json = checkTop(full, checker, report);
  const stages = stageTrees(full, (problem, stage) => merging({ ...problem, path: problem.path || stage }));
  // Without stages the one there is has the top level's blocks: they have been checked.
  const checked = stages.map((stage) =>
    stage.written === undefined ? undefined : checkBlocks(stage, checker, report),
  );
  const written = stagesJson(stages, report);
  const tree = complete(file, { ...json, ...(written.length > 0 ? { stages: written } : {}) }, full);
  return { top: { node: full, json: tree, checker }, stages, checked, written };
}

function trainsElsewhere(full: MapNode): boolean {
  const use = textOf(child(child(full, "engine"), "use"));
  return externalEngines.some((name) => name === use);
}

/** Everything but the stages. */
function checkTop(full: MapNode, checker: Checker, report: Report): JsonObject {
  const stages = child(full, "stages");
  const { shape } = grammar.fields["stages"]!;
  if (stages !== undefined && stages.kind !== "list") new Checker(report).visit(shape, stages, "stages");
  const json = checker.visit(grammar, withoutEntry(full, "stages"), "");
  return isObject(json) ? json : {};
}

/** A stage's blocks: what it inherits has been complained about at the top level already. */
function checkBlocks({ name, body }: StageTree, top: Checker, report: Report): CheckedTree {
  const prefix = `stages.${name}`;
  const checker = new Checker((diagnostic) => {
    if (diagnostic.at.stage === undefined) return;
    const { misplaced, meant, key } = diagnostic;
    const inStage = (path: string): string => `${prefix}.${path}`;
    report({
      ...diagnostic,
      key: inStage(key),
      ...(misplaced?.to === undefined ? {} : { misplaced: { to: inStage(misplaced.to) } }),
      ...(meant === undefined ? {} : { meant: inStage(meant) }),
    });
  }, top);
  const json = checker.visit({ kind: "map", fields: grammar.fields }, body, "");
  return { node: body, json: isObject(json) ? json : {}, checker };
}

/** Each stage as written: its own keys checked, its overrides as they are. */
function stagesJson(stages: readonly StageTree[], report: Report): JsonObject[] {
  const checker = new Checker(report);
  return stages.flatMap((stage) =>
    stage.written === undefined ? [] : [stageJson(stage, stage.written, checker)],
  );
}

function stageJson(
  { name, writtenKind: kind, steps }: StageTree,
  written: MapNode,
  checker: Checker,
): JsonObject {
  const own = bodyOf(written);
  const rest = restOf(written);
  const json = checker.visit(stageItem.shape, rest, `stages.${name}`);
  const overrides = writtenJson(own);
  const files = withFiles(rest);
  return {
    ...(isObject(json) ? json : {}),
    ...files,
    kind,
    steps,
    ...(isObject(overrides) ? overrides : {}),
  };
}

/** A stage's own keys. */
const restOf = (written: MapNode): MapNode =>
  mapNode(
    written.origin,
    [...written.entries].filter(([key]) => !stageBlocks.includes(key)),
  );

/** Who wrote each value: the top level's, and of the stages their own keys. */
export function originsOf({ top, stages }: Examined): ReadonlyMap<string, Origin> {
  const checker = new Checker(() => undefined);
  const { shape } = grammar.fields["stages"]!;
  const list = child(top.node, "stages");
  if (list !== undefined && list.kind !== "list") checker.visit(shape, list, "stages");
  for (const { name, written } of stages)
    if (written !== undefined) checker.visit(stageItem.shape, restOf(written), `stages.${name}`);
  return new Map([...top.checker.origins, ...checker.origins]);
}

/** Of a stage's own keys those that name files, made absolute. */
const withFiles = (own: MapNode): JsonObject =>
  Object.fromEntries(
    ["merge", "on_enter"].flatMap((key) => {
      const node = child(own, key);
      return node === undefined || isNull(node) ? [] : [[key, writtenJson(node)]];
    }),
  );

/** What follows from other values where it is not written. */
function complete(file: string, json: JsonObject, full: MapNode): JsonObject {
  const evaluation = isObject(json["evaluation"]) ? json["evaluation"] : {};
  const passAt = Array.isArray(evaluation["pass_at"])
    ? evaluation["pass_at"].filter((k) => typeof k === "number")
    : [];
  const samples: Json = evaluation["samples"] ?? (passAt.length === 0 ? 1 : Math.max(...passAt));
  const steps = full.entries.has("stages")
    ? {}
    : { steps: json["steps"] ?? stageTrees(full, () => undefined)[0]?.steps ?? 0 };
  return { name: stemOf(file), ...json, ...steps, evaluation: { ...evaluation, samples } };
}

/** Only of what was examined without an error. */
export function assemble(
  file: string,
  { top, stages, checked, written }: Examined,
): { readonly config: RunConfig; readonly views: readonly StageView[] } {
  const total = stages.reduce((sum, { kind, steps }) => sum + (kind === "rl" ? steps : 0), 0);
  const shared: BuiltTop = { tree: top, steps: total, body: buildBody(top, total) };
  const built = stages.map((stage, index) => builtStage(stage, checked[index], written[index], shared));
  const views = crossfaded(built).map((config, index): StageView => {
    const stage = stages[index]!;
    const path = stage.written === undefined ? "" : `stages.${stage.name}`;
    return { config, body: (checked[index] ?? top).node, written: stage.written, path };
  });
  return {
    config: buildRun(
      file,
      top,
      shared.body,
      views.map(({ config }) => config),
    ),
    views,
  };
}

function builtStage(
  stage: StageTree,
  checked: CheckedTree | undefined,
  written: JsonObject = {},
  shared: BuiltTop,
): StageConfig {
  const tree = checked ?? shared.tree;
  const own = stage.written !== undefined && isOwnCourse(tree) ? stage.steps : shared.steps;
  return buildStage(written, tree.checker, stage, buildBody(tree, own, shared));
}
