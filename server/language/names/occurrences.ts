/** Every place of a document that names a stage, task, reward term, model or value head. */
import type { Range } from "../../lib/lines.ts";
import { chosenOf, longForm, nameOf } from "../../config/check/method.ts";
import { child, entry, textOf, type SourceNode } from "../../config/text/node.ts";
import { isSchema } from "../../config/check/values.ts";
import { chosenMethod, type Spot } from "../spot.ts";
import { lastKey, visits, type Visit } from "../walk.ts";
import { namedBy, type NameKind } from "./naming.ts";
import { readMetric } from "./metricParts.ts";

export interface Occurrence {
  readonly kind: NameKind;
  readonly name: string;
  /** `override`: a key that changes what is declared above it or in a parent. */
  readonly role: "declaration" | "override" | "reference";
  /** Where the name is, without quotes. */
  readonly range: Range;
  /** Of a declaration: all that it says. */
  readonly whole: Range;
  /** A task without a name is called by its environment or its file, so there is no name to change. */
  readonly implied?: SourceNode;
  /** The method's parameter that refers to the name by its default: the name itself is written nowhere there. */
  readonly unwritten?: string;
}

/** A metric as somebody wrote it. */
export interface MetricUse {
  readonly name: string;
  readonly range: Range;
}

export interface Names {
  readonly occurrences: readonly Occurrence[];
  readonly metrics: readonly MetricUse[];
}

export function namesIn(root: SourceNode | undefined, text: string, merged?: SourceNode): Names {
  const collector = new Collector(text.split(/\r?\n/), taskNames(merged ?? root));
  if (root !== undefined) for (const visit of visits(root, merged)) collector.visit(visit);
  return collector;
}

function taskNames(root: SourceNode | undefined): string[] {
  const tasks = child(root, "tasks");
  if (tasks?.kind === "map") return [...tasks.entries.keys()];
  return tasks?.kind === "list" ? tasks.items.flatMap((item) => nameOf(item, "task") ?? []) : [];
}

/** Maps whose keys are names that other values refer to. */
const keysOf: Readonly<Record<string, "model" | "term">> = { models: "model", terms: "term" };

class Collector implements Names {
  readonly occurrences: Occurrence[] = [];
  readonly metrics: MetricUse[] = [];
  private readonly seen = new Set<string>();

  constructor(
    private readonly lines: readonly string[],
    private readonly tasks: readonly string[],
  ) {}

  visit(visit: Visit): void {
    const { spot, path, node, key } = visit;
    if (spot?.kind === "shape") {
      if (spot.shape.kind === "slot") this.defaulted(visit, spot);
      if (spot.shape.kind === "named_list") this.listed(visit, spot.shape.what);
      const named = spot.shape.kind === "named_map" ? keysOf[lastKey(path) ?? ""] : undefined;
      if (named !== undefined) this.keyed(visit, named);
      if (path.length === 1 && path[0] === "model" && key !== undefined)
        this.add({
          kind: "model",
          name: "policy",
          role: "declaration",
          range: key,
          whole: spanning(key, node),
        });
    }
    if (lastKey(path) === "value_heads") this.head(visit);
    if (path.at(-1) === "metric" && ofCondition(path)) this.metric(node);
    const kind = referenceKind(visit);
    if (kind !== undefined) this.named(kind, "reference", node);
  }

  /** A list of tasks or stages, or a map that changes them by their names. */
  private listed({ node }: Visit, kind: "task" | "stage"): void {
    if (node.kind === "map")
      for (const [name, { key, value }] of node.entries)
        this.add({
          kind,
          name,
          role: "override",
          range: this.bare(key.range, name),
          whole: spanning(key.range, value),
        });
    if (node.kind !== "list") return;
    for (const item of node.items) {
      const name = nameOf(item, kind);
      if (name === undefined) continue;
      const written = entry(item, "name")?.value;
      const chosen = chosenNode(item);
      if (written !== undefined) this.named(kind, "declaration", written, item.origin.range);
      else if (chosen !== undefined)
        this.add({
          kind,
          name,
          role: "declaration",
          range: chosen.origin.range,
          whole: item.origin.range,
          implied: item,
        });
    }
  }

  private keyed({ node, path }: Visit, kind: "term" | "model"): void {
    if (node.kind !== "map") return;
    const role = path[0] === "stages" ? "override" : "declaration";
    for (const [name, { key, value }] of node.entries)
      this.add({ kind, name, role, range: this.bare(key.range, name), whole: spanning(key.range, value) });
  }

  /** `value_heads: [value, { name: q1 }]`. */
  private head({ node, path }: Visit): void {
    const item = typeof path.at(-1) === "number" ? node : undefined;
    const named = item?.kind === "map" ? child(item, "name") : item;
    if (item !== undefined && named !== undefined)
      this.named("head", "declaration", named, item.origin.range);
  }

  /** A critic reads the head `value` where no other is named. */
  private defaulted({ node, key }: Visit, spot: Spot & { kind: "shape" }): void {
    const method = chosenMethod(spot);
    const place = node.kind === "map" ? (child(node, "use")?.origin.range ?? key) : node.origin.range;
    if (method === undefined || place === undefined) return;
    for (const [unwritten, schema] of Object.entries(method.params.shape)) {
      const kind = isSchema(schema) ? namedBy(schema) : undefined;
      const written = child(node, unwritten) ?? child(spot.merged, unwritten);
      if (!isSchema(schema) || kind === undefined || written !== undefined) continue;
      const usual = schema.safeParse(undefined).data;
      for (const name of Array.isArray(usual) ? usual : [usual])
        if (typeof name === "string")
          this.add({ kind, name, role: "reference", range: place, whole: place, unwritten });
    }
  }

  private metric(node: SourceNode): void {
    const name = textOf(node);
    if (name === undefined) return;
    const range = this.bare(node.origin.range, name);
    this.metrics.push({ name, range });
    // Where quotes or escapes hide the characters, parts of the name have no places of their own.
    if (range.end.character - range.start.character !== name.length) return;
    for (const { kind, name: part, start } of readMetric(name, this.tasks)?.parts ?? []) {
      if (kind === "arm") continue;
      const from = { line: range.start.line, character: range.start.character + start };
      const place = { start: from, end: { ...from, character: from.character + part.length } };
      this.add({ kind, name: part, role: "reference", range: place, whole: range });
    }
  }

  private named(kind: NameKind, role: Occurrence["role"], node: SourceNode, whole = node.origin.range): void {
    const name = textOf(node);
    if (name !== undefined) this.add({ kind, name, role, range: this.bare(node.origin.range, name), whole });
  }

  /** What an alias repeats is found once. */
  private add(found: Occurrence): void {
    const { start } = found.range;
    const place = `${found.kind} ${found.name} ${start.line}:${start.character}`;
    if (this.seen.has(place)) return;
    this.seen.add(place);
    this.occurrences.push(found);
  }

  /** Without its quotes. */
  private bare(range: Range, name: string): Range {
    const { start, end } = range;
    if (start.line !== end.line) return range;
    const at = (this.lines[start.line] ?? "").slice(start.character, end.character).indexOf(name);
    if (at < 0) return range;
    const from = start.character + at;
    return {
      start: { line: start.line, character: from },
      end: { line: start.line, character: from + name.length },
    };
  }
}

/** Whether a `metric` is in `until`, alone or among several conditions, or in `checkpoint.best`. */
const ofCondition = (path: Visit["path"]): boolean =>
  ["until", "best"].includes(String(path.at(-2))) ||
  (typeof path.at(-2) === "number" && path.at(-4) === "until");

function chosenNode(item: SourceNode): SourceNode | undefined {
  const long = longForm(item, "task");
  return long.kind === "map" ? chosenOf(long, "task")?.node : undefined;
}

const spanning = (key: Range, value: SourceNode): Range => ({
  start: key.start,
  end: value.origin.range.end,
});

/** What kind of name the value of a place is, where it is one. */
function referenceKind({ path, node, parent }: Visit): NameKind | undefined {
  if (node.kind !== "scalar") return undefined;
  const keys = path.filter((step) => typeof step === "string");
  const [last, before] = [keys.at(-1), keys.at(-2)];
  if (last === "terms" && before === "success") return "term";
  if (last === "tasks" && keys.at(-3) === "terms") return "task";
  if (last === "from" && before === "generate") return "task";
  if (last === "model" && keys.includes("kl") && (before === "kl" || /^\d+$/.test(before ?? "")))
    return "model";
  if (last === "stage" && (before === "merge" || before === "alternate")) return "stage";
  if ((last === "trains" && typeof path.at(-2) !== "string") || (last === "models" && before === "on_enter"))
    return keys[0] === "stages" ? "model" : undefined;
  if (last === "of" && (before === "ema" || before === "polyak")) return "model";
  // A parameter, or an item of one that takes a list.
  const holder = typeof path.at(-1) === "number" ? parent?.parent : parent;
  return last === undefined || holder?.spot === undefined ? undefined : parameterKind(holder, last);
}

function parameterKind({ spot }: Visit, key: string): NameKind | undefined {
  if (spot?.kind !== "shape" || spot.shape.kind !== "slot" || key in spot.shape.own) return undefined;
  const schema = chosenMethod(spot)?.params.shape[key];
  return isSchema(schema) ? namedBy(schema) : undefined;
}
