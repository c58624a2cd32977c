/** Tables of a framework's keys, one column a release. Written by scripts/frameworkTables.mjs. */
import type { Json } from "../../../../shared/lib/json.ts";

/** `?` at the end: may be null. `any`: its type is unknown. */
export type KeyType =
  | "int"
  | "float"
  | "bool"
  | "str"
  | "list"
  | "dict"
  | "any"
  | `${"int" | "float" | "bool" | "str" | "list" | "dict"}?`;

/** Whether a key of TRL belongs to the config class or to the script: a Python call takes fewer than the command line. */
export type KeyOwner = "config" | "script";

export interface KeyFact {
  readonly type: KeyType;
  /** As the framework writes it, interpolations included; absent where there is none. */
  readonly default?: Json;
  readonly choices?: readonly Json[];
  /** The type of a list's items, if they are numbers. */
  readonly of?: "int" | "float";
  /** How many values a flag takes, unless that is one, or none for a switch. */
  readonly nargs?: number | "?" | "*" | "+";
  /** Only code compares the choices, where it reads the key: a value of a key that nothing reads is taken. */
  readonly compared?: true;
  /** The framework's own comment on it, cut short. */
  readonly help?: string;
  readonly owner?: KeyOwner;
  /** Not in Hydra's tree, but a field of the class that the section becomes: `+key=` adds it. */
  readonly plus?: true;
  /** A config group of Hydra's: its name chooses a file on a command line. */
  readonly group?: true;
  /** A map of anything: keys below it are not checked. */
  readonly open?: true;
}

export type KeyFacts = Readonly<Record<string, KeyFact>>;

/** A fact that held from one release to another, both by index into `versions`. */
export interface VersionedFact extends KeyFact {
  readonly from: number;
  readonly to: number;
  /** verl's trees that it is true of; absent if it is true of all. */
  readonly trees?: readonly string[];
}

export interface FrameworkTable {
  readonly versions: readonly string[];
  readonly trees: readonly string[];
  /** The first release that has each of the trees, by index. */
  readonly treesSince: readonly number[];
  /** Comments, each once: `help` of a row is an index into these. */
  readonly texts: readonly string[];
  readonly keys: Readonly<Record<string, readonly StoredFact[]>>;
}
/** `trees`: their indices as bits. */
export type StoredFact = Omit<VersionedFact, "help" | "trees"> & {
  readonly help?: number;
  readonly trees?: number;
};

/** A reworded comment is not a change. */
const same = (a: KeyFact, b: KeyFact): boolean => wordless(a) === wordless(b);
const wordless = ({ help: _help, ...fact }: KeyFact): string => JSON.stringify(fact);

/** One release's facts, tree by tree. */
export type Release = Readonly<Record<string, KeyFacts>>;

/** Joins releases, oldest first, into versioned facts. */
export function tabulated(versions: readonly string[], releases: readonly Release[]): FrameworkTable {
  const trees = [...new Set(releases.flatMap((release) => Object.keys(release)))].sort();
  const names = [
    ...new Set(releases.flatMap((release) => Object.values(release).flatMap((facts) => Object.keys(facts)))),
  ].sort();
  const keys: Record<string, StoredFact[]> = {};
  const texts: string[] = [];
  const stored = ({ help, trees: only, ...row }: VersionedFact): StoredFact => ({
    ...row,
    ...(help === undefined ? {} : { help: indexIn(texts, help) }),
    ...(only === undefined
      ? {}
      : { trees: only.reduce((bits, tree) => bits | (1 << trees.indexOf(tree)), 0) }),
  });
  for (const name of names) {
    const runs = trees.flatMap((tree) => {
      // A tree that came later agrees with whatever the others had before.
      const first = releases.findIndex((release) => tree in release);
      return runsOf(releases.map((release) => release[tree]?.[name])).map((run) => ({
        ...run,
        from: run.from === first ? 0 : run.from,
        trees: [tree],
      }));
    });
    keys[name] = merged(runs, trees.length).map(stored);
  }
  const treesSince = trees.map((tree) => releases.findIndex((release) => tree in release));
  return { versions, trees, treesSince, texts, keys };
}

function indexIn(texts: string[], text: string): number {
  const at = texts.indexOf(text);
  return at < 0 ? texts.push(text) - 1 : at;
}

function runsOf(facts: readonly (KeyFact | undefined)[]): VersionedFact[] {
  const rows: VersionedFact[] = [];
  facts.forEach((fact, i) => {
    const last = rows.at(-1);
    if (fact === undefined) return;
    if (last?.to === i - 1 && same(factOf(last), fact))
      rows[rows.length - 1] = { ...fact, from: last.from, to: i };
    else rows.push({ from: i, to: i, ...fact });
  });
  return rows;
}

const factOf = ({ from: _from, to: _to, trees: _trees, ...fact }: VersionedFact): KeyFact => fact;

/** Rows that are the same in several trees are one. */
function merged(rows: readonly VersionedFact[], all: number): VersionedFact[] {
  const found: VersionedFact[] = [];
  for (const row of rows) {
    const at = found.findIndex(
      (other) => other.from === row.from && other.to === row.to && same(factOf(other), factOf(row)),
    );
    if (at < 0) found.push(row);
    else found[at] = { ...row, ...found[at]!, trees: [...(found[at]!.trees ?? []), ...(row.trees ?? [])] };
  }
  return found.map(({ trees, ...row }) =>
    trees === undefined || trees.length === all ? row : { ...row, trees },
  );
}
