/** A YAML file of Hydra (verl) or of TRL: its leaves as settings, wherever anchors and merges put them. */
import { basename, dirname } from "node:path";
import {
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  parseDocument,
  type Alias,
  type Document,
  type Node,
  type Pair,
  type YAMLMap,
} from "yaml";
import type { Json } from "../../../shared/lib/json.ts";
import type { BrokenYaml, Framework, Setting } from "../text/document.ts";
import { isGrouped, pythonic, valueOf } from "../text/values.ts";
import { baseOfDefaults } from "./base.ts";
import { aliasBeyond, composed, composedNode, tooManyAliases } from "../text/composed.ts";
import { aliasTargets } from "../../lib/yamlAliases.ts";
import { Lines } from "./lines.ts";
import { startIn } from "./header.ts";
import { ownerOfYaml, type ConfigOwner } from "./recognise.ts";
import type { OwnerOf, ParsedConfig } from "./parsedConfig.ts";

const deepest = 32;

/** @param owner determines the framework by the keys */
export function readYaml(file: string, text: string, owner?: OwnerOf): ParsedConfig | undefined {
  const document = parseDocument(text, { logLevel: "silent", uniqueKeys: false });
  const { contents } = document;
  const beyond = aliasBeyond(document);
  if (beyond !== undefined) return boundless(file, text, document, beyond, owner);
  const broken = brokenAt(document, text);
  if (!isMap(contents)) return broken === undefined ? undefined : unreadable(file, text, broken);
  const leaves = new Leaves(aliasTargets(document), new Lines(text), text);
  const all = (): string[] => leaves.collect(contents, "verl").map(({ key }) => key);
  const recognised =
    owner === undefined
      ? ownerOf(file, text, contents, all())
      : { framework: owner(all(), "yaml"), tree: undefined, reader: undefined };
  if (recognised?.framework === undefined) return undefined;
  const { framework } = recognised;
  const settings = leaves
    .collect(contents, framework)
    .filter(({ key }) => !/^(defaults|hydra)(\.|$)/.test(key));
  const [first] = settings;
  if (first === undefined) return undefined;
  const start = framework === "trl" ? startIn(file, text) : undefined;
  const built = framework === "verl" ? baseOfDefaults(dirname(file), composed(document)) : undefined;
  return {
    framework,
    form: "yaml",
    settings,
    base: built?.base ?? new Map<string, Json>(),
    program: start === undefined ? recognised.reader : `trl ${start.program}`,
    tree: start?.program ?? recognised.tree ?? built?.tree,
    unset: [],
    broken,
    incomplete:
      broken !== undefined ||
      built?.incomplete === true ||
      start?.alone === false ||
      (start === undefined && recognised.reader !== undefined),
    missing: built?.missing,
    head: first.keyRange,
  };
}

/** PyYAML and OmegaConf refuse errors that this reader tolerates. */
function brokenAt({ errors: [error] }: Document, text: string): BrokenYaml | undefined {
  if (error === undefined) return undefined;
  const [start, end] = error.pos;
  const [reason = ""] = error.message.split(/ at line \d+|\n/);
  return { kind: "syntax", range: new Lines(text).range({ start, end: Math.max(end, start) }), reason };
}

/** Its aliases are not followed: its own keys determine the framework. */
function boundless(
  file: string,
  text: string,
  { contents }: Document,
  { range: place }: Alias,
  owner: OwnerOf | undefined,
): ParsedConfig | undefined {
  const [start, end] = place ?? [0, 0];
  const lines = new Lines(text);
  const broken: BrokenYaml = {
    kind: "aliases",
    range: lines.range({ start, end }),
    reason: tooManyAliases,
  };
  const keys = isMap(contents)
    ? new Leaves(new Map(), lines, text).collect(contents, "verl").map(({ key }) => key)
    : [];
  const framework =
    owner !== undefined
      ? owner(keys, "yaml")
      : isMap(contents)
        ? ownerOf(file, text, contents, keys)?.framework
        : undefined;
  return framework === undefined
    ? unreadable(file, text, broken)
    : { ...nothingRead(broken), framework, program: undefined, tree: undefined };
}

/** The file cannot be parsed: only a comment that starts TRL with it determines the framework. */
function unreadable(file: string, text: string, broken: BrokenYaml): ParsedConfig | undefined {
  const start = startIn(file, text);
  if (start === undefined) return undefined;
  return {
    ...nothingRead(broken),
    framework: "trl",
    program: `trl ${start.program}`,
    tree: start.program,
  };
}

const nothingRead = (broken: BrokenYaml) =>
  ({
    form: "yaml",
    settings: [],
    base: new Map<string, Json>(),
    unset: [],
    broken,
    incomplete: true,
    head: broken.range,
  }) as const;

function ownerOf(
  file: string,
  text: string,
  contents: YAMLMap,
  keys: readonly string[],
): ConfigOwner | undefined {
  const tops = contents.items.flatMap(({ key }) => (isScalar(key) ? [String(key.value)] : []));
  const hints = [basename(file), ...(text.match(/#.*$/gm) ?? [])].join("\n");
  const defaults = contents.get("defaults");
  const names = isSeq(defaults)
    ? defaults.items.map((item) => (isScalar(item) ? String(item.value) : ""))
    : [];
  return ownerOfYaml({ keys, tops, defaults: names, hints });
}

class Leaves {
  constructor(
    private readonly targets: ReadonlyMap<Alias, Node>,
    private readonly lines: Lines,
    private readonly text: string,
  ) {}

  /** TRL's maps are values (`model_init_kwargs`); the others' are sections. */
  collect(map: Node, framework: Framework): Setting[] {
    return isMap(map) ? map.items.flatMap((pair) => this.pair(pair, "", framework, 0)) : [];
  }

  private pair(pair: unknown, before: string, framework: Framework, depth: number): Setting[] {
    if (!isPair(pair) || !isScalar(pair.key) || depth > deepest) return [];
    const name = String(pair.key.value);
    const value = isNode(pair.value) ? pair.value : undefined;
    const target = isAlias(value) ? this.targets.get(value) : value;
    if (name === "<<") return this.merged(target, before, framework, depth);
    const key = `${before}${name}`;
    if (isMap(target) && target.items.length > 0 && framework !== "trl")
      return target.items.flatMap((item) => this.pair(item, `${key}.`, framework, depth + 1));
    return [this.leaf(key, pair.key, value, target)];
  }

  private merged(target: unknown, before: string, framework: Framework, depth: number): Setting[] {
    const maps = isSeq(target) ? target.items : [target];
    return maps
      .map((item) => (isAlias(item) ? this.targets.get(item) : item))
      .filter((item) => isMap(item))
      .flatMap(({ items }) => items.flatMap((item: Pair) => this.pair(item, before, framework, depth + 1)))
      .map((setting) => ({ ...setting, inherited: true as const }));
  }

  private leaf(key: string, keyNode: Node, value: Node | undefined, target: Node | undefined): Setting {
    const keyRange = this.rangeOf(keyNode);
    const empty = value?.range == null || value.range[0] === value.range[1];
    const [start, end] = value?.range ?? [0, 0];
    return {
      key,
      value: plain(target),
      text: empty ? "" : this.text.slice(start, end),
      keyRange,
      range: empty || value === undefined ? keyRange : this.rangeOf(value),
      ...(target !== undefined && target !== value ? { source: this.rangeOf(target) } : {}),
      sign: "",
    };
  }

  private rangeOf(node: Node): Setting["range"] {
    const [start, end] = node.range ?? [0, 0];
    return this.lines.range({ start, end: start + this.text.slice(start, end).trimEnd().length });
  }
}

/** As YAML 1.1, which Python's readers use: `yes` and `on` are booleans, and `1e-6` becomes a number. */
function plain(node: Node | undefined): Json {
  if (node === undefined) return null;
  if (isScalar(node) && typeof node.value === "string" && node.type === "PLAIN")
    return /^(yes|no|on|off)$/i.test(node.value) ? /^(yes|on)$/i.test(node.value) : asNumber(node.value);
  return pythonic(composedNode(node));
}

const asNumber = (text: string): Json => {
  const value = isGrouped(text) ? Number(text.replaceAll("_", "")) : valueOf(text);
  return typeof value === "number" || typeof value === "boolean" || value === null ? value : text;
};
