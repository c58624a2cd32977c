/** Tables from the disk, each read when it is first asked for, and one release's facts out of them. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { UserError } from "../../../shared/lib/errors.ts";
import { belowOf, extractors, type PackageName } from "./extract/index.ts";
import type { BelowSpec } from "./extract/declared/index.ts";
import type { KeyFact, VersionedFact, StoredFact, FrameworkTable } from "./tables/table.ts";

/** The keys that one release of a framework has in one of its trees. */
export interface KeyTable {
  readonly version: string;
  get(key: string): KeyFact | undefined;
  has(key: string): boolean;
  readonly keys: readonly string[];
  /** What has keys below it. */
  readonly sections: ReadonlySet<string>;
}

const place = "server/frameworks/releases/tables";
const tables = new Map<PackageName, FrameworkTable>();
const views = new Map<string, KeyTable>();

/** The nearest folder upwards that holds the tables: the checkout, or the installed extension. */
export function tablesFolder(start = dirname(fileURLToPath(import.meta.url))): string {
  for (let folder = start; ; folder = dirname(folder)) {
    if (existsSync(join(folder, place, "verl.json"))) return join(folder, place);
    if (dirname(folder) === folder)
      throw new UserError("the tables of verl, TRL and OpenRLHF are missing", {
        action: `Reinstall Gradus: there is no ${place}/verl.json in ${start} or a folder above it.`,
      });
  }
}

export function tableOf(name: PackageName): FrameworkTable {
  const known = tables.get(name);
  if (known !== undefined) return known;
  const table: FrameworkTable = JSON.parse(readFileSync(join(tablesFolder(), `${name}.json`), "utf8"));
  tables.set(name, table);
  return table;
}

/** Every fact of a key in a tree, or in all trees, oldest first. */
export function historyOf(name: PackageName, key: string, tree?: string): readonly VersionedFact[] {
  const table = tableOf(name);
  if (!Object.hasOwn(table.keys, key)) return [];
  const rows = table.keys[key]!.map((row) => worded(row, table));
  return tree === undefined
    ? rows
    : rows.filter(({ trees: only }) => only === undefined || only.includes(tree));
}

const worded = (
  { help, trees: bits, ...row }: StoredFact,
  { texts, trees }: FrameworkTable,
): VersionedFact => {
  const text = help === undefined ? undefined : texts[help];
  return {
    ...row,
    ...(text === undefined ? {} : { help: text }),
    ...(bits === undefined ? {} : { trees: trees.filter((_, i) => (bits & (1 << i)) !== 0) }),
  };
};

/**
 * With what the program takes from other packages, as any of their releases has it.
 * @param version one of the table's @param tree the main one if the name is unknown
 */
export function keyTable(name: PackageName, version: string, tree = ""): KeyTable {
  const id = `${name} ${version} ${tree}`;
  const known = views.get(id);
  if (known !== undefined) return known;
  const table = tableOf(name);
  const [at, chosen] = [table.versions.indexOf(version), treeAmong(table.trees, tree)];
  const facts = new Map<string, KeyFact>();
  for (const [key, rows] of Object.entries(table.keys)) {
    const row = rows.find(
      ({ from, to, trees: only }) =>
        from <= at && at <= to && (only === undefined || (only & (1 << table.trees.indexOf(chosen))) !== 0),
    );
    if (row !== undefined) facts.set(key, factOf(worded(row, table)));
  }
  return remembered(id, version, withBelow(facts, name, chosen, everIn));
}

/** Each key that a release of a package has had in a tree, as the newest has it. */
function everIn(name: PackageName, tree: string): Map<string, KeyFact> {
  const keys = Object.keys(tableOf(name).keys);
  return new Map(
    keys.flatMap((key) => {
      const row = historyOf(name, key, tree).at(-1);
      return row === undefined ? [] : [[key, factOf(row)] as const];
    }),
  );
}

/** Adds the keys that a program takes from other packages; its own win. */
function withBelow(
  own: ReadonlyMap<string, KeyFact>,
  name: PackageName,
  tree: string,
  read: (name: PackageName, tree: string) => ReadonlyMap<string, KeyFact>,
): ReadonlyMap<string, KeyFact> {
  const renamed = ({ name: below, tree: from, prefix = "", without = [] }: BelowSpec): [string, KeyFact][] =>
    [...read(below, from)].flatMap(([key, fact]) =>
      without.includes(key) ? [] : [[`${prefix}${key}`, fact] as [string, KeyFact]],
    );
  return new Map([...belowOf(name, tree).flatMap(renamed), ...own]);
}

/** The facts of packages in a folder, read from their sources; undefined where they are not there. */
export function installedTable(
  name: PackageName,
  folder: string,
  version: string,
  tree = "",
): KeyTable | undefined {
  const id = `${folder} ${name} ${version} ${tree}`;
  const known = views.get(id);
  if (known !== undefined) return known;
  const release = extractors[name](folder);
  if (release === undefined) return undefined;
  const chosen = treeAmong(Object.keys(release), tree);
  const facts = release[chosen];
  if (facts === undefined) return undefined;
  const installed = (below: PackageName, from: string): ReadonlyMap<string, KeyFact> => {
    const found = extractors[below](folder)?.[from];
    return found === undefined ? everIn(below, from) : new Map(Object.entries(found));
  };
  return remembered(id, version, withBelow(new Map(Object.entries(facts)), name, chosen, installed));
}

/** The default tree. */
const mains = ["ppo_trainer", "grpo", "train_ppo_ray", "rlhf", "grpo_fast", "rlvr", "rl", "train"];

const treeAmong = (trees: readonly string[], wanted: string): string =>
  trees.includes(wanted) ? wanted : (mains.find((main) => trees.includes(main)) ?? trees[0] ?? "");

const factOf = ({ from: _from, to: _to, trees: _trees, ...fact }: VersionedFact): KeyFact => fact;

function remembered(id: string, version: string, facts: ReadonlyMap<string, KeyFact>): KeyTable {
  const table: KeyTable = {
    version,
    // The empty key stands for the whole configuration, where it takes any key.
    keys: [...facts.keys()].filter((key) => key !== ""),
    sections: sectionsOf([...facts.keys()]),
    get: (key) => facts.get(key),
    has: (key) => facts.has(key),
  };
  views.set(id, table);
  return table;
}

const sectionsOf = (keys: readonly string[]): ReadonlySet<string> =>
  new Set(
    keys.flatMap((key) => {
      const parts = key.split(".");
      return parts.slice(1).map((_, i) => parts.slice(0, i + 1).join("."));
    }),
  );
