/** Every place of a document that names a stage, task, reward term, model or value head. */
import type { Range } from "../../lib/lines.ts";
import { chosenOf, longForm, nameOf } from "../../config/check/method.ts";
import { child, entry, textOf, type SourceNode } from "../../config/text/node.ts";
import { isSchema } from "../../config/check/values.ts";
import { chosenMethod, schemaOf, type Spot } from "../spot.ts";
import { lastKey, visits, type Visit } from "../walk.ts";
import { addressParts } from "./addressParts.ts";
import { keyNamedBy, namedBy, type NameKind, type NamePart } from "./naming.ts";
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
    if (path.length === 2 && path[0] === "sweep" && path[1] === "parameters") this.addressed(visit);
    const schema = spot === undefined ? undefined : schemaOf(spot);
    if (schema === undefined) return;
    const kind = namedBy(schema);
    if (kind !== undefined && node.kind === "scalar") this.named(kind, "reference", node);
    const below = keyNamedBy(schema);
    if (below !== undefined && node.kind === "map")
      for (const [name, { key: at }] of node.entries)
        this.add({ kind: below, name, role: "reference", range: this.bare(at.range, name), whole: at.range });
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
    const parts = readMetric(name, this.tasks)?.parts ?? [];
    this.parts(
      name,
      range,
      parts.flatMap((part) => (part.kind === "arm" ? [] : [{ ...part, kind: part.kind }])),
    );
  }

  /** A map whose keys are addresses of other keys. */
  private addressed({ node }: Visit): void {
    if (node.kind !== "map") return;
    for (const [address, { key }] of node.entries)
      this.parts(address, this.bare(key.range, address), addressParts(address));
  }

  private parts(text: string, whole: Range, parts: readonly NamePart[]): void {
    // Where quotes or escapes hide the characters, parts of the text have no places of their own.
    if (whole.end.character - whole.start.character !== text.length) return;
    for (const { kind, name, start } of parts) {
      const from = { line: whole.start.line, character: whole.start.character + start };
      const range = { start: from, end: { ...from, character: from.character + name.length } };
      this.add({ kind, name, role: "reference", range, whole });
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
