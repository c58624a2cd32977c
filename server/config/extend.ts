/** A config's file and everything it extends, merged left to right, the file itself last. */
import { existsSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, resolve } from "node:path";
import { readFailure } from "../../shared/lib/errors.ts";
import { limits, readText, regularFile } from "../lib/inputFile.ts";
import { mostAliased, tooManyAliases } from "../lib/yamlAliases.ts";
import { grammar } from "./grammar/grammar.ts";
import { mergeBlocks } from "./merge.ts";
import {
  join,
  entry,
  isNull,
  mapNode,
  startOfFile,
  textOf,
  withoutEntry,
  type Layer,
  type MapNode,
  type Origin,
  type SourceNode,
} from "./text/node.ts";
import { formerPreset } from "./papers.ts";
import { presetFile, presetIds } from "./presets.ts";
import { unknownName, type Report } from "./check/report.ts";
import { parsedBefore, parseSource, type SourceFile } from "./text/source.ts";
import type { Diagnostic } from "./check/diagnostic.ts";
import { realPath } from "../../shared/lib/realPath.ts";

interface Frame {
  readonly file: string;
  readonly via: readonly string[];
  readonly layer: Layer;
  /** Where its paths start: a file's own folder, a preset's that of the config that names it. */
  readonly folder: string;
  /** Real paths from the main file down to this one. */
  readonly chain: readonly string[];
}

export class Extender {
  /** Every file read, the main one first: who watches a config watches these. */
  readonly files: string[] = [];
  /** The main file's own `extends` entries: where diagnostics in other files are shown. */
  readonly parents = new Map<string, Origin>();
  /** The main file's own values. */
  source: SourceNode | undefined;
  /** What the main file extends, merged: the file's own values lie over it. */
  inherited: MapNode | undefined;
  /** Where the main file extends several: each but the first, with what lies below it. */
  readonly mixed: { readonly below: MapNode; readonly over: MapNode; readonly at: Origin }[] = [];
  /** A syntax error anywhere: what follows from an error-tolerant parse would be its echo. */
  broken = false;
  /** Files that were read, by layer and real path: what two of them extend is read once. */
  private readonly known = new Map<string, MapNode>();
  /** Values of the aliases of all files. */
  private aliased = 0;

  constructor(
    private readonly report: Report,
    private readonly syntax: (
      diagnostics: readonly Diagnostic[],
      frame: { main: boolean; file: string; via: readonly string[] },
    ) => void,
  ) {}

  load(file: string, text: string): MapNode {
    return this.read({ file, via: [], layer: "file", folder: dirname(file), chain: [real(file)] }, text);
  }

  private read(frame: Frame, text: string): MapNode {
    const { file, via, layer, folder } = frame;
    this.files.push(file);
    const origin: Omit<Origin, "range"> = { file, folder, via, layer };
    const whole: Origin = { ...origin, range: startOfFile };
    const parse = via.length === 0 ? parseSource : parsedBefore;
    const parsed = parse(file, text, origin);
    if (via.length > 0 && isNoConfig(file, parsed)) return this.noConfig(whole);
    if (this.isBeyond(parsed.aliased, whole)) return mapNode(whole, []);
    if (parsed.diagnostics.length > 0) {
      this.broken = true;
      this.syntax(parsed.diagnostics, { main: via.length === 0, file, via });
    }
    const { root } = parsed;
    if (via.length === 0) this.source = root;
    if (root === undefined || isNull(root)) return mapNode(whole, []);
    if (root.kind !== "map") {
      this.broken = true;
      this.report({
        rule: "type",
        message: "A config is a map: lines of `key: value`, such as `tasks:` and `reward:`.",
        key: "",
        at: root.origin,
      });
      return mapNode(whole, []);
    }
    const own = withoutEntry(layer === "preset" ? withoutEntry(root, "preset") : root, "extends");
    const base = this.parentsOf(frame, entry(root, "extends")?.value);
    if (via.length === 0) this.inherited = base;
    return mergeBlocks(base, own, grammar, ({ message, entry: at, path, allowed, name }) => {
      const { hint, fixes } = unknownName(name, allowed, at.key);
      this.report({ rule: "unknown-name", message: `${message}. ${hint}`, key: path, at: at.key, fixes });
    });
  }

  /** Each file alone may have as many: of those of many files one diagnostic says that they are too many. */
  private isBeyond(aliased: number, at: Origin): boolean {
    this.aliased += aliased;
    if (aliased > mostAliased || this.aliased <= mostAliased) return false;
    if (!this.broken) this.report({ rule: "syntax", message: tooManyAliases, key: "extends", at });
    return (this.broken = true);
  }

  /** Its content is not repeated: whoever may see the message may not have been meant to see the file. */
  private noConfig(at: Origin): MapNode {
    this.broken = true;
    this.report({
      rule: "extends",
      message:
        "This file is not a config: it has none of a config's keys. Name a Gradus config or a preset in `extends`.",
      key: "extends",
      at,
    });
    return mapNode(at, []);
  }

  private parentsOf(frame: Frame, node: SourceNode | undefined): MapNode | undefined {
    if (node === undefined || isNull(node)) return undefined;
    const items = node.kind === "list" ? node.items : [node];
    let merged: MapNode | undefined;
    items.forEach((item, index) => {
      const key = node.kind === "list" ? join("extends", index) : "extends";
      const parent = this.parent(frame, item, key);
      if (parent === undefined) return;
      if (frame.via.length === 0 && merged !== undefined)
        this.mixed.push({ below: merged, over: parent, at: item.origin });
      merged = mergeBlocks(merged, parent, grammar, () => undefined);
    });
    return merged;
  }

  private parent(frame: Frame, item: SourceNode, key: string): MapNode | undefined {
    const name = textOf(item);
    if (name === undefined) {
      this.report({
        rule: "type",
        message: "`extends` takes a preset's name, a path, or a list of them.",
        key,
        at: item.origin,
      });
      return undefined;
    }
    const via = [...frame.via, name];
    if (frame.via.length === 0) this.parents.set(name, item.origin);
    const found = parentFile(name, frame.file);
    if (found === undefined) {
      this.report(missing(name, frame, item, key));
      return undefined;
    }
    const path = real(found.file);
    if (frame.chain.includes(path)) {
      const chain = [...frame.chain.slice(frame.chain.indexOf(path)), path]
        .map((file) => basename(file))
        .join(" → ");
      this.report({
        rule: "extends-cycle",
        message: `\`extends\` goes in a circle: ${chain}. Remove one of these \`extends\`.`,
        key,
        at: item.origin,
      });
      return undefined;
    }
    const layer = found.preset ? "preset" : frame.layer;
    const folder = found.preset ? frame.folder : dirname(found.file);
    const id = `${layer} ${folder} ${path}`;
    const known = this.known.get(id);
    if (known !== undefined) return known;
    try {
      const text = readText(found.file, limits.config);
      const read = this.read({ file: found.file, layer, via, folder, chain: [...frame.chain, path] }, text);
      this.known.set(id, read);
      return read;
    } catch (error) {
      this.report({
        rule: "extends",
        message: `\`${name}\` cannot be read: ${readFailure(error)}.`,
        key,
        at: item.origin,
      });
      return undefined;
    }
  }
}

const real = (file: string): string => (existsSync(file) ? realPath(file) : resolve(file));

const isPath = (name: string): boolean => isAbsolute(name) || /[/\\]/.test(name) || /\.ya?ml$/.test(name);

/** The file that an entry of `extends` names, as `by` writes it; undefined where there is none. */
export function parentFile(name: string, by: string): { file: string; preset: boolean } | undefined {
  if (!isPath(name)) {
    const file = presetFile(name);
    return file === undefined ? undefined : { file, preset: true };
  }
  const file = resolve(dirname(by), name);
  return existsSync(file) && statSync(file).isFile() ? { file, preset: false } : undefined;
}

/** What somebody named by mistake, or to see what is in it: nothing of it is a config's, nor is its name. */
function isNoConfig(file: string, { root, diagnostics }: Pick<SourceFile, "root" | "diagnostics">): boolean {
  if (root === undefined || isNull(root)) return diagnostics.length > 0;
  if (root.kind === "map" && diagnostics.length === 0 && /\.ya?ml$/.test(file)) return false;
  return root.kind !== "map" || ![...root.entries.keys()].some((key) => key in grammar.fields);
}

/** Why what is there cannot be read; undefined where nothing is there. */
function unfit(file: string): string | undefined {
  if (!existsSync(file)) return undefined;
  try {
    regularFile(file);
    return undefined;
  } catch (error) {
    return readFailure(error);
  }
}

function missing(name: string, frame: Frame, item: SourceNode, key: string): Parameters<Report>[0] {
  const there = isPath(name) ? unfit(resolve(dirname(frame.file), name)) : undefined;
  if (there !== undefined)
    return {
      rule: "extends",
      message: `\`${name}\` cannot be read: ${there}. Name a config's file or a preset.`,
      key,
      at: item.origin,
    };
  if (isPath(name)) {
    return {
      rule: "extends",
      message: `There is no file \`${name}\`: a path is relative to the file that contains it, \`${basename(frame.file)}\`.`,
      key,
      at: item.origin,
    };
  }
  const former = formerPreset(name);
  if (former !== undefined)
    return {
      rule: "extends",
      message: `\`${name}\` is no longer a preset: it was a placeholder for the paper "${former.title}". Extend \`grpo\`, as it did, and choose what replaces it. ${former.follows}`,
      key,
      at: item.origin,
    };
  const { hint, fixes } = unknownName(name, presetIds(), item.origin);
  return {
    rule: "extends",
    message: `There is no preset \`${name}\`. ${hint} To extend a file, write its path, e.g. \`./${name}.gradus.yaml\`.`,
    key,
    at: item.origin,
    fixes,
  };
}
