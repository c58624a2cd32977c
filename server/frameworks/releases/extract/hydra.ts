/** Composes a config of Hydra's from its parts, with the comments above its keys. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isMap, isPair, isScalar, parseDocument, type YAMLMap } from "yaml";
import type { Json } from "../../../../shared/lib/json.ts";
import { flat, isObject, pythonic } from "../../text/values.ts";
import { relativePath } from "../../../../shared/lib/slashes.ts";

/** Keys whose number is written with a point: `1.0` is not a whole number. */
export function floatsIn(map: YAMLMap, prefix: string): string[] {
  return map.items.flatMap(({ key, value }) => {
    const name = `${prefix}${isScalar(key) ? String(key.value) : ""}`;
    if (isMap(value)) return floatsIn(value, `${name}.`);
    return isScalar(value) && typeof value.value === "number" && /[.eE]/.test(value.source ?? "")
      ? [name]
      : [];
  });
}

/** A config group of the defaults: its choice, and the files that it may choose. */
export interface HydraGroup {
  readonly chosen: string;
  readonly choices: readonly string[];
}

export class Composition {
  /** Leaves by dotted key, in the order in which they came. */
  readonly values = new Map<string, Json>();
  readonly floats = new Set<string>();
  readonly comments = new Map<string, string>();
  /** By the name that an override of it has: `actor@actor_rollout_ref.actor`. */
  readonly groups = new Map<string, HydraGroup>();

  /** Choices of groups; `${name}` in another choice refers to one. */
  private readonly choices: Map<string, string>;

  constructor(
    /** Of the config groups. */
    private readonly root: string,
    /** Groups whose choice overrides that of the files. */
    choices: Readonly<Record<string, string>>,
  ) {
    this.choices = new Map(Object.entries(choices));
  }

  primary(file: string): this {
    this.walk(file, "");
    return this;
  }

  /** What `defaults` names comes before the file's own keys, or after them if it says so. */
  private walk(file: string, prefix: string): void {
    if (!existsSync(file)) return;
    const document = parseDocument(readFileSync(file, "utf8"));
    const { contents } = document;
    const tree = pythonic(document.toJS({ maxAliasCount: 100 }));
    if (!isMap(contents) || !isObject(tree)) return;
    const { defaults, hydra: _hydra, ...own } = tree;
    const entries = Array.isArray(defaults) ? defaults : [];
    for (const entry of entries) this.override(entry);
    const at = entries.indexOf("_self_");
    const before = at < 0 ? entries : entries.slice(0, at);
    for (const entry of before) this.follow(entry, file, prefix);
    this.take(own, prefix, new Set(floatsIn(contents, prefix)));
    for (const entry of entries.slice(before.length)) this.follow(entry, file, prefix);
    this.collect(contents, prefix);
  }

  /** `override model_engine: megatron`, of a group that a file before this one names. */
  private override(entry: Json): void {
    for (const [group, choice] of isObject(entry) ? Object.entries(entry) : []) {
      const name = /^override (\S+)$/.exec(group)?.[1];
      if (name !== undefined && !this.choices.has(name)) this.choices.set(name, String(choice));
    }
  }

  /** `actor`, `data@data: legacy_data`, `../optim@optim: fsdp`. */
  private follow(entry: Json, file: string, prefix: string): void {
    if (entry === "_self_") return;
    if (typeof entry === "string") {
      const sibling = join(dirname(file), `${entry}.yaml`);
      return this.walk(existsSync(sibling) ? sibling : join(this.root, `${entry}.yaml`), prefix);
    }
    for (const [group, choice] of isObject(entry) ? Object.entries(entry) : []) {
      if (group.startsWith("override ")) continue;
      const [path = "", inner] = group.split("@");
      const chosen =
        (prefix === "" ? this.choices.get(path) : undefined) ??
        String(choice).replace(/\$\{(\w+)\}/g, (_, name: string) => this.choices.get(name) ?? "");
      if (prefix === "" && !this.choices.has(path) && inner === undefined) this.choices.set(path, chosen);
      const base = path.startsWith("..") ? join(dirname(file), path) : join(this.root, path);
      const below = inner === undefined || inner === "_here_" ? prefix : `${prefix}${inner}.`;
      this.remember(base, prefix, inner, chosen);
      this.walk(join(base, `${chosen}.yaml`), below);
    }
  }

  private remember(folder: string, prefix: string, inner: string | undefined, chosen: string): void {
    if (inner === "_here_" || !existsSync(folder)) return;
    const group = relativePath(this.root, folder);
    const place = inner === undefined ? `${prefix}${group.split("/").at(-1)!}` : `${prefix}${inner}`;
    const choices = readdirSync(folder).flatMap((name) => /^(.*)\.ya?ml$/.exec(name)?.[1] ?? []);
    const name = place === group.replaceAll("/", ".") ? group : `${group}@${place}`;
    this.groups.set(name, { chosen, choices: choices.sort() });
  }

  private take(own: Json, prefix: string, floats: ReadonlySet<string>): void {
    if (!isObject(own)) return;
    for (const [name, value] of flat(own)) {
      const key = `${prefix}${name}`;
      const empty = isObject(value) && [...this.values.keys()].some((other) => other.startsWith(`${key}.`));
      // An empty map adds nothing to an existing one.
      if (empty) continue;
      for (const section of sectionsAbove(key)) this.values.delete(section);
      this.values.set(key, value);
      if (floats.has(key)) this.floats.add(key);
      else this.floats.delete(key);
    }
  }

  private collect(map: YAMLMap, prefix: string): void {
    for (const pair of map.items) {
      if (!isPair(pair) || !isScalar(pair.key)) continue;
      const key = `${prefix}${String(pair.key.value)}`;
      const comment =
        pair === map.items[0] ? (pair.key.commentBefore ?? map.commentBefore) : pair.key.commentBefore;
      if (comment != null) this.comments.set(key, lastBlock(comment));
      if (isMap(pair.value)) this.collect(pair.value, `${key}.`);
    }
  }
}

const sectionsAbove = (key: string): string[] => {
  const parts = key.split(".");
  return parts.slice(1).map((_, i) => parts.slice(0, i + 1).join("."));
};

/** An empty line separates a heading of the file. */
const lastBlock = (comment: string): string =>
  comment
    .split(/\n\s*\n/)
    .at(-1)!
    .replace(/^\s*#?\s?/gm, "");
