/** A trainer's keys from its own sources: classes (data classes, pydantic's models, typed dictionaries) and argparse's flags. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { KeyFact, KeyFacts, Release } from "../../tables/table.ts";
import { classFacts, mergeInto, type Facts, type Walk } from "./classFacts.ts";
import { defaultsIn, flagFacts, setDefault } from "./flagFacts.ts";
import { Sources } from "./sources.ts";

/** Keys that a program takes from another package: they change with its releases, so a table of their own has them. */
export interface BelowSpec {
  readonly name: "transformers" | "megatron-lm" | "sglang";
  readonly tree: string;
  /** What the program puts before their names. */
  readonly prefix?: string;
  /** Those that it does not take. */
  readonly without?: readonly string[];
}

/** Where the keys of one of a trainer's programs are declared. Classes are written `package.module:Class`. */
export interface TreeSpec {
  /** Their fields are keys at the top. */
  readonly classes?: readonly string[];
  /** Modules that add flags to a parser, with the words of variables that are parts of the flags' names. */
  readonly flags?: readonly (string | readonly [string, Readonly<Record<string, string>>])[];
  /** Data classes that a parser makes flags of, one a field. */
  readonly flagClasses?: readonly string[];
  /** By key: classes of a section that its annotation does not name. */
  readonly also?: Readonly<Record<string, readonly string[]>>;
  /** Sections whose keys other programs define. */
  readonly open?: readonly string[];
  /** By section: a prefix that its keys may also have. */
  readonly spelled?: Readonly<Record<string, string>>;
  readonly below?: readonly BelowSpec[];
  /** Keys that only code reads. */
  readonly known?: KeyFacts;
  /** The module whose `set_defaults` changes what classes say. */
  readonly defaults?: string;
}

export interface DeclaredSpec {
  /** Folders of a checkout that hold packages, besides the checkout itself. */
  readonly folders?: readonly string[];
  readonly trees: Readonly<Record<string, TreeSpec>>;
  /** The longest help that is kept; 0 for none. */
  readonly help?: number;
}

/** @param root the folder that holds the packages, or a checkout; undefined where none of the trees is there */
export function declaredFacts(
  root: string,
  { folders = [], trees, help = 160 }: DeclaredSpec,
): Release | undefined {
  const roots = [root, ...folders.map((folder) => join(root, folder))].filter((folder) => existsSync(folder));
  const sources = new Sources(roots, packagesOf(Object.values(trees)));
  const release = Object.fromEntries(
    Object.entries(trees).flatMap(([tree, spec]) => {
      const facts = treeFacts(spec, { sources, help });
      return facts === undefined ? [] : [[tree, facts] as const];
    }),
  );
  return Object.keys(release).length === 0 ? undefined : release;
}

const packagesOf = (trees: readonly TreeSpec[]): Set<string> =>
  new Set(
    trees
      .flatMap(({ classes = [], flagClasses = [], flags = [], also = {} }) => [
        ...[...classes, ...flagClasses, ...Object.values(also).flat()],
        ...flags.map((flag) => (typeof flag === "string" ? flag : flag[0])),
      ])
      .map((name) => name.split(/[.:]/)[0] ?? ""),
  );

function treeFacts(spec: TreeSpec, walk: Walk): KeyFacts | undefined {
  const facts: Facts = new Map();
  for (const [i, name] of (spec.classes ?? []).entries()) {
    const found = factsAt(name, walk);
    if (found === undefined && i === 0) return undefined;
    mergeInto(facts, found ?? new Map());
  }
  for (const name of spec.flagClasses ?? [])
    for (const [key, fact] of factsAt(name, walk) ?? []) facts.set(key.replaceAll("_", "-"), fact);
  for (const flag of spec.flags ?? []) {
    const [name, words] = typeof flag === "string" ? [flag, {}] : flag;
    const module = walk.sources.module(name);
    if (module !== undefined) for (const [key, fact] of flagFacts(module, walk, words)) facts.set(key, fact);
  }
  const defaults = spec.defaults === undefined ? undefined : walk.sources.module(spec.defaults);
  if (defaults !== undefined) for (const [key, value] of defaultsIn(defaults)) setDefault(facts, key, value);
  if (facts.size === 0) return undefined;
  addSections(facts, spec, walk);
  for (const [section, prefix] of Object.entries(spec.spelled ?? {})) spell(facts, `${section}.`, prefix);
  return { ...Object.fromEntries(facts), ...spec.known };
}

function factsAt(name: string, walk: Walk): Facts | undefined {
  const [at = "", own = ""] = name.split(":");
  const module = walk.sources.module(at);
  const found = module === undefined ? undefined : walk.sources.lookup(module, own);
  return found?.class === undefined ? undefined : classFacts(found, walk);
}

/** What the specification says of sections: their classes, and which are open. */
function addSections(facts: Facts, { also = {}, open = [] }: TreeSpec, walk: Walk): void {
  for (const [section, classes] of Object.entries(also))
    for (const name of classes) {
      const below = factsAt(name, walk);
      if (below === undefined) continue;
      const isOpen = below.delete("");
      mergeInto(facts, new Map([...below].map(([key, fact]) => [`${section}.${key}`, fact])));
      const { open: _open, ...known }: KeyFact = facts.get(section) ?? { type: "dict" };
      facts.set(section, isOpen ? { ...known, open: true } : known);
    }
  for (const key of open) facts.set(key, { ...(facts.get(key) ?? { type: "dict" }), open: true });
}

function spell(facts: Facts, section: string, prefix: string): void {
  for (const [key, fact] of [...facts])
    if (key.startsWith(section) && !key.startsWith(`${section}${prefix}`))
      facts.set(`${section}${prefix}${key.slice(section.length)}`, fact);
}
