/** A config's values together with where each was written. Trees are immutable: merging makes new ones. */
import type { Json } from "../../../shared/lib/json.ts";
import type { Range } from "../../lib/lines.ts";

/** Who wrote a value. */
export type Layer = "default" | "preset" | "file" | "set";

export interface Origin {
  /** Absolute path of the file; for `set`, the assignment as it was given; for `default`, `default`. */
  readonly file: string;
  /** Folder that relative paths of this value start from. */
  readonly folder: string;
  readonly range: Range;
  /** The entries of `extends` through which the value came, outermost first; empty for the config itself. */
  readonly via: readonly string[];
  readonly layer: Layer;
  /** Name of the stage whose override this is: its schedules count that stage's steps. */
  readonly stage?: string | undefined;
}

type RangeOf = (start: number, end: number) => Range;

/** Where a text has something; line and column are counted only when somebody asks, which is seldom. */
export class TextOrigin implements Origin {
  readonly stage = undefined;
  private found: Range | undefined;

  constructor(
    private readonly base: Omit<Origin, "range">,
    private readonly start: number,
    private readonly end: number,
    private readonly rangeOf: RangeOf,
  ) {}

  get file(): string {
    return this.base.file;
  }
  get folder(): string {
    return this.base.folder;
  }
  get via(): readonly string[] {
    return this.base.via;
  }
  get layer(): Layer {
    return this.base.layer;
  }
  get range(): Range {
    return (this.found ??= this.rangeOf(this.start, this.end));
  }
}

/** The same origin with something changed. An origin is not spread: its parts may be computed. */
export const changed = (
  { file, folder, range, via, layer, stage }: Origin,
  change: Partial<Origin>,
): Origin => ({ file, folder, range, via, layer, stage, ...change });

export type Scalar = null | boolean | number | string;
interface ScalarNode {
  readonly kind: "scalar";
  readonly value: Scalar;
  readonly origin: Origin;
}
export interface ListNode {
  readonly kind: "list";
  readonly items: readonly SourceNode[];
  readonly origin: Origin;
}
export interface MapEntry {
  /** Where the key is. */
  readonly key: Origin;
  readonly value: SourceNode;
}
export interface MapNode {
  readonly kind: "map";
  readonly entries: ReadonlyMap<string, MapEntry>;
  readonly origin: Origin;
}
export type SourceNode = ScalarNode | ListNode | MapNode;

export const startOfFile: Range = { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } };

export const mapNode = (origin: Origin, entries: Iterable<readonly [string, MapEntry]>): MapNode => ({
  kind: "map",
  entries: new Map(entries),
  origin,
});

/** Plain data as a tree whose every value has one origin: defaults, `--set`. */
export function fromJson(value: Json, origin: Origin): SourceNode {
  if (value === null || typeof value !== "object") return { kind: "scalar", value, origin };
  if (isList(value)) return { kind: "list", items: value.map((item) => fromJson(item, origin)), origin };
  return mapNode(
    origin,
    Object.entries(value).map(
      ([key, child]) => [key, { key: origin, value: fromJson(child, origin) }] as const,
    ),
  );
}

const isList = (value: Json): value is readonly Json[] => Array.isArray(value);

export function toJson(node: SourceNode): Json {
  switch (node.kind) {
    case "scalar":
      return node.value;
    case "list":
      return node.items.map(toJson);
    case "map":
      return Object.fromEntries([...node.entries].map(([key, entry]) => [key, toJson(entry.value)]));
  }
}

/** Whether two trees hold the same values in the same order, wherever they were written. */
export function saysTheSame(a: SourceNode | undefined, b: SourceNode | undefined): boolean {
  if (a === b) return true;
  if (a?.kind === "scalar") return b?.kind === "scalar" && a.value === b.value;
  if (a?.kind === "list")
    return (
      b?.kind === "list" &&
      a.items.length === b.items.length &&
      a.items.every((item, index) => saysTheSame(item, b.items[index]))
    );
  if (a?.kind !== "map" || b?.kind !== "map" || a.entries.size !== b.entries.size) return false;
  const others = b.entries.entries();
  for (const [key, { value }] of a.entries) {
    const [otherKey, other] = others.next().value ?? [];
    if (key !== otherKey || !saysTheSame(value, other?.value)) return false;
  }
  return true;
}

export const child = (node: SourceNode | undefined, key: string): SourceNode | undefined =>
  entry(node, key)?.value;

export const entry = (node: SourceNode | undefined, key: string): MapEntry | undefined =>
  node?.kind === "map" ? node.entries.get(key) : undefined;

export const textOf = (node: SourceNode | undefined): string | undefined =>
  node?.kind === "scalar" && typeof node.value === "string" ? node.value : undefined;

export const isNull = (node: SourceNode): boolean => node.kind === "scalar" && node.value === null;

/** A copy with one entry set or replaced; order of keys is kept. */
export function withEntry(
  node: MapNode,
  key: string,
  value: SourceNode,
  keyOrigin: Origin = value.origin,
): MapNode {
  const entries = new Map(node.entries);
  entries.set(key, { key: keyOrigin, value });
  return { ...node, entries };
}

export function withoutEntry(node: MapNode, key: string): MapNode {
  const entries = new Map(node.entries);
  entries.delete(key);
  return { ...node, entries };
}

/** A copy in which every origin is changed by `change`. */
export function mapOrigins<Node extends SourceNode>(node: Node, change: (origin: Origin) => Origin): Node;
export function mapOrigins(node: SourceNode, change: (origin: Origin) => Origin): SourceNode {
  const origin = change(node.origin);
  switch (node.kind) {
    case "scalar":
      return { ...node, origin };
    case "list":
      return { ...node, items: node.items.map((item) => mapOrigins(item, change)), origin };
    case "map":
      return mapNode(
        origin,
        [...node.entries].map(
          ([key, { key: at, value }]) =>
            [key, { key: change(at), value: mapOrigins(value, change) }] as const,
        ),
      );
  }
}

/** A path one key longer. */
export const join = (path: string, key: string | number): string =>
  path === "" ? String(key) : `${path}.${key}`;

/** Whether the file that wrote a key has another one in the same place as well: two of one name are no config. */
export const isWritten = (node: MapNode, key: string | undefined, { file }: Origin): boolean =>
  key !== undefined && node.entries.get(key)?.key.file === file;
