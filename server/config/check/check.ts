/** Walks a merged config along the grammar: diagnostics, plain data with every default, origins, and chosen methods. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { isObject, type Json, type JsonObject } from "../../../shared/lib/json.ts";
import { methodOf, methods } from "../../methods/index.ts";
import type { Declaration, SlotName, Choice } from "../../core/declaration.ts";
import { merge, nullable } from "../merge.ts";
import { unspacedMap } from "../text/missingSpace.ts";
import {
  chosenOf,
  fileReference,
  takesFile,
  longForm,
  taskFileKeys,
  type Chosen,
  type FileSlot,
} from "./method.ts";
import {
  join,
  fromJson,
  isNull,
  mapNode,
  startOfFile,
  textOf,
  toJson,
  type MapNode,
  type Origin,
  type SourceNode,
} from "../text/node.ts";
import { fromItsFolder } from "../build/filePaths.ts";
import { isHubName } from "../../lib/datasets/name.ts";
import { perObject } from "../../lib/perObject.ts";
import { unknownName, type Report } from "./report.ts";
import type { Fields, Shape } from "../../core/blocks/field.ts";
import { absolute, itemName, jsonOf, withClock } from "../build/parsed.ts";
import { reportUnknownKeys } from "./unknownKeys.ts";
import { listed } from "../../lib/suggest.ts";
import { checkValue, isRequired, isSchema } from "./values.ts";
import { wordsFor, written } from "../grammar/words.ts";

export const defaultOrigin: Origin = {
  file: "default",
  folder: process.cwd(),
  range: startOfFile,
  via: [],
  layer: "default",
};

/** Values that are not written, as a tree. */
const defaultsOf = perObject((defaults: JsonObject): SourceNode => fromJson(defaults, defaultOrigin));

const keyWord: Readonly<Partial<Record<SlotName, string>>> = {
  task: "`env`, `dataset`, `corpus` or `generate`",
};

const ownFile: Readonly<Record<FileSlot, string>> = {
  reward: "a function of your own, write its path, e.g. `./rewards/brevity.ts`",
  environment: "one of your own, write its path, e.g. `./guess.ts` or `./guess.py:Guess`",
  tool: "one of your own, write its path, e.g. `./lookUp.ts` or `./tools.py:look_up`",
};

export class Checker {
  private readonly choices = new Map<string, Choice<SlotName>>();
  /** Path → who wrote the value there, defaults of methods included. */
  readonly origins = new Map<string, Origin>();

  /** Models that are no files here may be names of the Hugging Face Hub: another trainer downloads them. */
  downloads = false;

  private readonly seen = new Map<string, { shape: Shape; node: SourceNode; json: Json }>();

  /** `above` has checked the tree that this one's was made from: what is the very same node is not checked again. */
  constructor(
    private readonly report: Report,
    private readonly above?: Checker,
  ) {}

  visit(shape: Shape, node: SourceNode, path: string): Json {
    const known = this.above?.seen.get(path);
    if (known?.node === node && known.shape === shape) return known.json;
    this.origins.set(path, node.origin);
    const json = this.visitNew(shape, node, path);
    this.seen.set(path, { shape, node, json });
    return json;
  }

  /** The method chosen at a path of the tree; where the tree above has the very same node, that one's. */
  choice(path: string): Choice<SlotName> | undefined {
    return this.choices.get(path) ?? this.above?.choice(path);
  }

  private visitNew(shape: Shape, node: SourceNode, path: string): Json {
    switch (shape.kind) {
      case "map":
        return this.map(shape, node, path);
      case "slot":
        return this.slot(shape, node, path);
      case "list":
      case "named_list":
        return this.list(shape, node, path);
      case "named_map":
        return this.named(shape, node, path);
      case "value":
        checkValue(shape.schema, node, path, this.report);
        this.deep(node, path);
        return toJson(node);
      case "path":
        return this.path(shape, node, path);
      case "later":
        return this.later(shape.what, node, path);
    }
  }

  private map(shape: Shape & { kind: "map" }, node: SourceNode, path: string): Json {
    const { short, fields } = shape;
    if (short !== undefined && textOf(node) !== undefined)
      return this.map(shape, mapNode(node.origin, [[short, { key: node.origin, value: node }]]), path);
    if (node.kind !== "map")
      return this.wrong(path, `a map of ${listed(Object.keys(fields))}`, node, unspacedMap(node));
    const whole = this.withDefaults(shape, node);
    reportUnknownKeys(whole, { path, allowed: Object.keys(fields) }, this.report);
    return this.fields(fields, whole, path);
  }

  private withDefaults(shape: Shape & { kind: "map" | "slot" }, node: MapNode): MapNode {
    if (shape.defaults === undefined) return node;
    const defaults = shape.defaults;
    // Items of a list were never merged: a null in one gives the default back.
    const given = mapNode(
      node.origin,
      [...node.entries].filter(([key, { value }]) => !(key in defaults && isNull(value))),
    );
    const merged = merge(defaultsOf(defaults), given, shape, () => undefined);
    return merged.kind === "map" ? { ...merged, origin: node.origin } : node;
  }

  private fields(fields: Fields, node: MapNode, path: string): JsonObject {
    const found: Record<string, Json> = {};
    for (const [key, { shape, required }] of Object.entries(fields)) {
      const value = node.entries.get(key)?.value;
      if (value !== undefined && !isNull(value)) found[key] = this.visit(shape, value, join(path, key));
      else if (required === true)
        this.report({
          rule: "missing-key",
          message: `\`${path}\` needs \`${key}\`.`,
          key: join(path, key),
          at: node.origin,
        });
    }
    return found;
  }

  private slot(shape: Shape & { kind: "slot" }, node: SourceNode, path: string): Json {
    const long = longForm(node, shape.slot);
    const key = keyWord[shape.slot] ?? "`use`";
    if (long.kind !== "map") return this.wrong(path, `a method's name, or a map with ${key}`, node);
    const whole = this.withDefaults(shape, long);
    const chosen = chosenOf(whole, shape.slot);
    if (chosen === undefined) return this.unchosen(shape, whole, path, key);
    const declaration = methodOf(shape.slot, chosen.method);
    if (declaration === undefined) return this.unknownMethod(shape, chosen, path);
    const own = this.fields(shape.own, whole, path);
    const useText = absolute(chosen);
    this.origins.set(join(path, chosen.key), chosen.node.origin);
    const params = this.params(shape, declaration, whole, chosen, path);
    this.choices.set(path, {
      use: useText,
      declaration,
      params: withClock(params, whole),
      folder: chosen.node.origin.folder,
    });
    const reference = takesFile(shape.slot) ? fileReference(chosen.text) : undefined;
    const kept = Object.fromEntries(
      Object.entries(params).filter(
        ([name]) => name !== chosen.key && (reference === undefined || whole.entries.has(name)),
      ),
    );
    return {
      [chosen.key]: chosen.key === "use" && reference === undefined ? declaration.name : useText,
      ...jsonOf(kept),
      ...own,
    };
  }

  private unchosen(shape: Shape & { kind: "slot" }, node: MapNode, path: string, key: string): Json {
    const keys = ["use", "env", ...taskFileKeys];
    const value = keys.map((one) => node.entries.get(one)).find((found) => found !== undefined);
    const names = methods
      .filter(({ slot, name }) => slot === shape.slot && name !== "generated")
      .map(({ name }) => name);
    if (value !== undefined) return this.wrong(path, `a method's name (${listed(names)})`, value.value);
    this.report({
      rule: "missing-key",
      message: `\`${path}\` needs ${key}: one of ${listed(names)}.`,
      key: path,
      at: node.origin,
    });
    return null;
  }

  private unknownMethod({ slot, own }: Shape & { kind: "slot" }, chosen: Chosen, path: string): Json {
    const names = methods
      .filter((method) => method.slot === slot && !["user", "python", "generated"].includes(method.name))
      .map(({ name }) => name);
    const unspaced = unspacedMap(chosen.node, [...useKeys(slot), ...Object.keys(own)]);
    if (unspaced !== undefined) return this.wrong(path, "a method's name, or a map", chosen.node, unspaced);
    const { hint, fixes } = unknownName(chosen.text, names, chosen.node.origin);
    const files = takesFile(slot) ? ` To use ${ownFile[slot]}.` : "";
    const where = join(path, chosen.key);
    this.report({
      rule: "unknown-value",
      message: `\`${where}\` names no ${slotWords(slot)}: \`${chosen.text}\`. ${hint}${files}`,
      key: where,
      at: chosen.node.origin,
      fixes,
    });
    return null;
  }

  /** The method's own parameters, parsed with their defaults. */
  private params(
    shape: Shape & { kind: "slot" },
    declaration: Declaration,
    node: MapNode,
    chosen: Chosen,
    path: string,
  ): Readonly<Record<string, unknown>> {
    const known = declaration.params.shape;
    const given: Record<string, SourceNode> = {};
    const reference = takesFile(shape.slot) ? fileReference(chosen.text) : undefined;
    if (reference !== undefined) {
      given["file"] = {
        kind: "scalar",
        value: resolve(chosen.node.origin.folder, reference.path),
        origin: chosen.node.origin,
      };
      if (reference.export !== undefined)
        given["export"] = { kind: "scalar", value: reference.export, origin: chosen.node.origin };
    }
    const taken = [...Object.keys(shape.own), ...useKeys(shape.slot)];
    for (const [key, { value }] of node.entries)
      if (key in known && !(key in shape.own) && !(isNull(value) && !nullable(shape.slot).has(key)))
        given[key] =
          key === chosen.key || (key === "file" && takesFile(shape.slot))
            ? {
                kind: "scalar",
                value: key === "file" ? resolve(value.origin.folder, textOf(value) ?? "") : absolute(chosen),
                origin: value.origin,
              }
            : fromItsFolder(known[key], value, chosen.node.origin.folder);
    const allowed = [...Object.keys(known), ...Object.keys(shape.own)];
    reportUnknownKeys(node, { path, allowed, elsewhere: taken, slot: shape.slot }, this.report);
    const clean = this.each(known, given, node, path, declaration);
    const json = Object.fromEntries(Object.entries(given).map(([key, value]) => [key, toJson(value)]));
    const parsed = declaration.params.safeParse(json);
    if (!parsed.success) {
      if (clean)
        checkValue(
          declaration.params,
          mapNode(
            node.origin,
            Object.entries(given).map(([key, value]) => [key, { key: value.origin, value }] as const),
          ),
          path,
          this.report,
        );
      return json;
    }
    for (const key of Object.keys(parsed.data))
      if (!this.origins.has(join(path, key))) this.origins.set(join(path, key), defaultOrigin);
    return parsed.data;
  }

  private each(
    known: Readonly<Record<string, unknown>>,
    given: Readonly<Record<string, SourceNode>>,
    node: MapNode,
    path: string,
    declaration: Declaration,
  ): boolean {
    let clean = true;
    for (const key of Object.keys(known)) {
      const schema = declaration.params.shape[key];
      const value = given[key];
      if (!isSchema(schema)) continue;
      if (value !== undefined) {
        clean = checkValue(schema, value, join(path, key), this.report) && clean;
        this.deep(value, join(path, key));
      } else if (isRequired(schema)) {
        clean = false;
        this.report({
          rule: "missing-key",
          message: `\`${path}\`: ${declaration.name} needs \`${key}\`: ${wordsFor(schema)}.`,
          key: join(path, key),
          at: node.origin,
        });
      }
    }
    return clean;
  }

  private list(shape: Shape & { kind: "list" | "named_list" }, node: SourceNode, path: string): Json {
    if (node.kind !== "list")
      return this.wrong(
        path,
        `a list of ${shape.what === "KL entry" ? "KL entries" : `${shape.what}s`}`,
        node,
      );
    return node.items.map((item, index) => {
      const name = shape.kind === "list" ? String(index) : itemName(shape.what, item, index, node);
      const json = this.visit(shape.item, item, join(path, name));
      const unnamed =
        shape.kind === "named_list" && shape.what === "task" && isObject(json) && json["name"] === undefined;
      return unnamed ? { name, ...json } : json;
    });
  }

  private named(shape: Shape & { kind: "named_map" }, node: SourceNode, path: string): Json {
    if (node.kind !== "map")
      return this.wrong(
        path,
        `a map from each ${shape.what}'s name to its settings`,
        node,
        unspacedMap(node),
      );
    const found: Record<string, Json> = {};
    for (const [key, { value }] of node.entries)
      if (!isNull(value)) found[key] = this.visit(shape.item, value, join(path, key));
    return found;
  }

  private path(shape: Shape & { kind: "path" }, node: SourceNode, path: string): Json {
    const text = textOf(node);
    if (text === undefined) return this.wrong(path, `${listed(shape.words)} or a path`, node);
    if (shape.words.includes(text) || text.startsWith("${env:")) return text;
    const place = resolve(node.origin.folder, text);
    return this.downloads && shape.what === "model" && isHubName(text) && !existsSync(place) ? text : place;
  }

  private later(what: string, node: SourceNode, path: string): Json {
    const empty =
      isNull(node) ||
      (node.kind === "map" && node.entries.size === 0) ||
      (node.kind === "list" && node.items.length === 0);
    if (!empty) {
      this.report({
        rule: "not-yet",
        message: `\`${path}\` does not exist yet: this version of Gradus has no ${what}, and a run would ignore the block. Remove it.`,
        key: path,
        at: node.origin,
        misplaced: {},
        harmless: true,
      });
    }
    return node.kind === "list" ? [] : {};
  }

  private wrong(
    path: string,
    expected: string,
    node: SourceNode,
    unspaced?: ReturnType<typeof unspacedMap>,
  ): null {
    this.report({
      rule: "type",
      message: `\`${path}\` must be ${expected}, not ${written(node)}.${unspaced === undefined ? "" : ` ${unspaced.words}`}`,
      key: path,
      at: node.origin,
      fixes: unspaced === undefined ? [] : [unspaced.fix],
    });
    return null;
  }

  /** Origins of what lies inside a value. */
  private deep(node: SourceNode, path: string): void {
    this.origins.set(path, node.origin);
    if (node.kind === "map") for (const [key, { value }] of node.entries) this.deep(value, join(path, key));
    if (node.kind === "list") node.items.forEach((item, index) => this.deep(item, join(path, index)));
  }
}

/** Keys that may name a slot's method. */
const useKeys = (slot: SlotName): readonly string[] =>
  slot === "task" ? ["use", "env", ...taskFileKeys] : ["use"];

const slotWords = (slot: SlotName): string =>
  slot === "task" ? "environment" : slot === "reward" ? "reward" : slot.replaceAll("_", " ");
