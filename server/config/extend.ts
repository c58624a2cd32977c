/** A config's file and everything it extends, merged left to right, the file itself last. */
import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, resolve } from "node:path";
import { readFailure } from "../../shared/errors.ts";
import { grammar } from "./grammar.ts";
import { merge } from "./merge.ts";
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
} from "./node.ts";
import { listPresets, presetNamed } from "./presets.ts";
import { unknownName, type Report } from "./report.ts";
import { parseSource } from "./source.ts";
import type { Diagnostic } from "./diagnostic.ts";

export interface Extended {
  readonly root: MapNode;
  /** The main file's own `extends` entries: where findings in other files are shown. */
  readonly parents: ReadonlyMap<string, Origin>;
  /** Every file read, the main one first: who watches a config watches these. */
  readonly files: readonly string[];
}

interface Frame {
  readonly file: string;
  readonly via: readonly string[];
  readonly layer: Layer;
  /** Real paths from the main file down to this one. */
  readonly chain: readonly string[];
}

export class Extender {
  readonly files: string[] = [];
  readonly parents = new Map<string, Origin>();
  /** The main file's own values. */
  source: SourceNode | undefined;
  /** A syntax error anywhere: what follows from the half-read tree would be its echo. */
  broken = false;

  constructor(
    private readonly report: Report,
    private readonly syntax: (
      diagnostics: readonly Diagnostic[],
      frame: { main: boolean; file: string; via: readonly string[] },
    ) => void,
  ) {}

  load(file: string, text: string): MapNode {
    return this.read({ file, via: [], layer: "file", chain: [real(file)] }, text);
  }

  private read(frame: Frame, text: string): MapNode {
    const { file, via, layer } = frame;
    this.files.push(file);
    const origin: Omit<Origin, "range"> = { file, folder: dirname(file), via, layer };
    const whole: Origin = { ...origin, range: startOfFile };
    const parsed = parseSource(file, text, origin);
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
    const merged = merge(base, own, grammar, ({ message, entry: at, path, allowed, name }) => {
      const { hint, fixes } = unknownName(name, allowed, at.key);
      this.report({ rule: "unknown-name", message: `${message}. ${hint}`, key: path, at: at.key, fixes });
    });
    return merged.kind === "map" ? merged : own;
  }

  private parentsOf(frame: Frame, node: SourceNode | undefined): MapNode | undefined {
    if (node === undefined || isNull(node)) return undefined;
    const items = node.kind === "list" ? node.items : [node];
    let merged: MapNode | undefined;
    items.forEach((item, index) => {
      const key = node.kind === "list" ? join("extends", index) : "extends";
      const parent = this.parent(frame, item, key);
      if (parent === undefined) return;
      const next = merge(merged, parent, grammar, () => undefined);
      if (next.kind === "map") merged = next;
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
    const found = locate(name, frame);
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
    try {
      return this.read(
        { file: found.file, layer: found.layer, via, chain: [...frame.chain, path] },
        readFileSync(found.file, "utf8"),
      );
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

const real = (file: string): string => (existsSync(file) ? realpathSync(file) : resolve(file));

const isPath = (name: string): boolean => isAbsolute(name) || /[/\\]/.test(name) || /\.ya?ml$/.test(name);

function locate(name: string, frame: Frame): { file: string; layer: Layer } | undefined {
  if (!isPath(name)) {
    const preset = presetNamed(name);
    return preset === undefined ? undefined : { file: preset.file, layer: "preset" };
  }
  const file = resolve(dirname(frame.file), name);
  return existsSync(file) && statSync(file).isFile() ? { file, layer: frame.layer } : undefined;
}

function missing(name: string, frame: Frame, item: SourceNode, key: string): Parameters<Report>[0] {
  if (isPath(name)) {
    return {
      rule: "extends",
      message: `There is no file \`${name}\`: a path is relative to the file that writes it, \`${basename(frame.file)}\`.`,
      key,
      at: item.origin,
    };
  }
  const { hint, fixes } = unknownName(
    name,
    listPresets().map(({ id }) => id),
    item.origin,
  );
  return {
    rule: "extends",
    message: `There is no preset \`${name}\`. ${hint} A file is written as a path, e.g. \`./${name}.gradus.yaml\`.`,
    key,
    at: item.origin,
    fixes,
  };
}
