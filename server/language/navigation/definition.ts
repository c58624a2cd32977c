/** From a name, a file, a method or an overridden value to where it is written. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Location } from "vscode-languageserver";
import type { Position, Range } from "../../lib/lines.ts";
import { nameOf } from "../../config/check/method.ts";
import { startOfFile, textOf, type SourceNode } from "../../config/text/node.ts";
import { pagesFolder } from "../../config/text/rulePages.ts";
import { methodOf } from "../../methods/index.ts";
import type { OpenConfig } from "../documents.ts";
import { contains } from "../locate.ts";
import type { ConfigFile, ConfigFiles } from "../names/configFiles.ts";
import { readMetric } from "../names/metricParts.ts";
import { declarations, isPolicy, occurrenceAt } from "../names/symbol.ts";
import type { Occurrence } from "../names/occurrences.ts";
import { slotOf } from "../spot.ts";
import { visits, type Visit } from "../walk.ts";
import { exportPlace } from "./exportPlace.ts";
import { fileLinks } from "./fileLinks.ts";
import { metricPlace } from "./metricPlaces.ts";

const location = (file: string, range: Range): Location => ({ uri: pathToFileURL(file).href, range });

/** Empty where nothing is known, or the place itself is the one declaration there is. */
export function definitions(files: ConfigFiles, open: OpenConfig, at: Position): Location[] {
  const file = files.get(open.file);
  if (file?.root === undefined) return [];
  const named = occurrenceAt(file, at);
  if (named !== undefined && named.implied === undefined) {
    const found = declared(files, file, named);
    if (found.length > 0) return found;
  }
  const metric = file.names.metrics.find(({ range }) => contains(range, at));
  if (metric !== undefined) return ofMetric(metric.name, open);
  const link = fileLinks(file.root, open.file, open.whole.root).find(({ range }) => contains(range, at));
  if (link !== undefined)
    return [
      location(link.file, link.export === undefined ? startOfFile : exportPlace(link.file, link.export)),
    ];
  const visit = visitAt(file.root, open.whole.root, at);
  if (visit === undefined) return [];
  return visit.on === "key" ? overridden(files, file, visit.visit) : ofMethod(visit.visit);
}

function declared(files: ConfigFiles, file: ConfigFile, symbol: Occurrence): Location[] {
  if (isPolicy(symbol) && symbol.role === "declaration") return [];
  return declarations(files, file.file, symbol).map(({ file: one, occurrence }) => ({
    uri: one.uri,
    range: occurrence.range,
  }));
}

/** The value of an arm where the task lists it, else what the config says of the metric. */
function ofMetric(name: string, { whole }: OpenConfig): Location[] {
  const arm = readMetric(name)?.parts.find(({ kind }) => kind === "arm")?.name;
  const value = arm === undefined ? undefined : armValue(whole.root, arm);
  const origin = value?.origin ?? metricPlace(name, whole.root);
  return origin === undefined ? [] : [location(origin.file, origin.range)];
}

function armValue(root: SourceNode, arm: string): SourceNode | undefined {
  const tasks = root.kind === "map" ? root.entries.get("tasks")?.value : undefined;
  if (tasks?.kind !== "list") return undefined;
  const task = tasks.items.find((item) => {
    const name = nameOf(item, "task");
    return name !== undefined && arm.startsWith(`${name}/`);
  });
  const wanted = arm.slice((task === undefined ? "" : (nameOf(task, "task") ?? "")).length + 1);
  const lists = task?.kind === "map" ? [...task.entries.values()].map(({ value }) => value) : [];
  return lists
    .flatMap((list) => (list.kind === "list" ? list.items : []))
    .find((item) => item.kind === "scalar" && String(item.value) === wanted);
}

function visitAt(
  root: SourceNode,
  merged: SourceNode,
  at: Position,
): { visit: Visit; on: "key" | "value" } | undefined {
  let found: { visit: Visit; on: "key" | "value" } | undefined;
  for (const visit of visits(root, merged)) {
    if (visit.key !== undefined && contains(visit.key, at)) found = { visit, on: "key" };
    else if (visit.node.kind === "scalar" && contains(visit.node.origin.range, at))
      found = { visit, on: "value" };
  }
  return found;
}

/** What a line replaces: of a stage, the top level's; else the nearest parent's. */
function overridden(files: ConfigFiles, file: ConfigFile, { path }: Visit): Location[] {
  const inStage = path[0] === "stages" && path.length > 2;
  const top = inStage ? path.slice(2) : path;
  const own = inStage ? keyAt(file.root, top) : undefined;
  if (own !== undefined) return [{ uri: file.uri, range: own }];
  for (const one of files.lineage(file.file).slice(1)) {
    const found = keyAt(one.root, named(file.root, path)) ?? (inStage ? keyAt(one.root, top) : undefined);
    if (found !== undefined) return [{ uri: one.uri, range: found }];
  }
  return [];
}

type VisitPath = Visit["path"];

/** Items of named lists by their names, which a parent may hold at another index. */
function named(root: SourceNode | undefined, path: VisitPath): VisitPath {
  let node = root;
  return path.map((step, index) => {
    const below = stepDown(node, step);
    node = below?.node;
    const what = path[index - 1] === "tasks" ? "task" : path[index - 1] === "stages" ? "stage" : undefined;
    return (
      (typeof step === "number" && what !== undefined && node !== undefined
        ? nameOf(node, what)
        : undefined) ?? step
    );
  });
}

function stepDown(
  node: SourceNode | undefined,
  step: string | number,
): { readonly key: Range; readonly node: SourceNode } | undefined {
  if (node?.kind === "map") {
    const entry = node.entries.get(String(step));
    return entry === undefined ? undefined : { key: entry.key.range, node: entry.value };
  }
  if (node?.kind !== "list") return undefined;
  const item =
    typeof step === "number"
      ? node.items[step]
      : node.items.find((one) => nameOf(one, "task") === step || nameOf(one, "stage") === step);
  return item === undefined ? undefined : { key: item.origin.range, node: item };
}

function keyAt(root: SourceNode | undefined, path: VisitPath): Range | undefined {
  let found: { readonly key: Range; readonly node: SourceNode } | undefined;
  let node = root;
  for (const step of path) {
    found = stepDown(node, step);
    if (found === undefined) return undefined;
    node = found.node;
  }
  return found?.key;
}

/** The method's part of the reference, where it is installed. */
function ofMethod({ spot, node }: Visit): Location[] {
  const slot = slotOf(spot);
  const text = textOf(node);
  const method = slot === undefined || text === undefined ? undefined : methodOf(slot, text);
  if (method === undefined) return [];
  const page = join(pagesFolder(), "methods", `${method.slot}.md`);
  if (!existsSync(page)) return [];
  const line = readFileSync(page, "utf8").split(/\r?\n/).indexOf(`## ${method.name}`);
  const start = { line: Math.max(0, line), character: 0 };
  return [location(page, { start, end: start })];
}
