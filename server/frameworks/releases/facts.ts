/** The facts of every key of a document's framework, in its release. */
import { choicesOf } from "./facts/choices.ts";
import type { FrameworkRelease, Framework } from "../text/document.ts";
import { installedTable, keyTable, tableOf, type KeyTable } from "./load.ts";
import type { KeyFact } from "./tables/table.ts";
import { compareVersions, nearestVersion } from "../text/releaseOrder.ts";
import { installedVersion } from "./version.ts";

const made = new Map<string, KeyTable>();

/** With the choices that only the framework's code checks. */
export function factsFor(framework: Framework, version: FrameworkRelease, tree?: string): KeyTable {
  const id = `${framework} ${version.text} ${version.folder ?? ""} ${version.transformers ?? ""} ${tree ?? ""}`;
  const known = made.get(id);
  if (known !== undefined) return known;
  const own = ownTable(framework, version, tree);
  const below = framework === "trl" ? transformersTable(version) : undefined;
  const keys = [...new Set([...own.keys, ...(below?.keys ?? [])])];
  const facts: KeyTable = {
    version: own.version,
    keys,
    sections: own.sections,
    has: (key) => own.has(key) || below?.has(key) === true,
    get: (key) => chosen(framework, version.text, tree, key, own.get(key) ?? below?.get(key)),
  };
  made.set(id, facts);
  return facts;
}

function chosen(
  framework: Framework,
  version: string,
  tree: string | undefined,
  key: string,
  fact: KeyFact | undefined,
): KeyFact | undefined {
  const choices = fact?.choices === undefined ? choicesOf(framework, version, key, tree) : undefined;
  return fact === undefined || choices === undefined ? fact : { ...fact, choices, compared: true };
}

/** For an installed release without a table, its sources are better than a neighbouring table. */
function ownTable(framework: Framework, version: FrameworkRelease, tree: string | undefined): KeyTable {
  const read =
    version.folder === undefined || version.table === version.text
      ? undefined
      : installedTable(framework, version.folder, version.text, tree);
  return read ?? keyTable(framework, version.table, tree);
}

/** Whether a release has a tree of this name: releases added engines and removed programs. */
export function hasTree(framework: Framework, version: FrameworkRelease, tree: string): boolean {
  const { versions, trees, treesSince } = tableOf(framework);
  const first = treesSince[trees.indexOf(tree)];
  return (
    first !== undefined &&
    first <= versions.indexOf(version.table) &&
    keyTable(framework, version.table, tree).keys.length > 0
  );
}

/** TRL 0.x belongs to Transformers 4, TRL 1 to Transformers 5. */
function transformersTable(version: FrameworkRelease): KeyTable {
  const { versions } = tableOf("transformers");
  const installed =
    version.folder === undefined ? undefined : installedVersion(version.folder, "transformers");
  if (installed !== undefined && version.folder !== undefined) {
    const newest = versions.at(-1) ?? installed;
    const own =
      compareVersions(installed, newest) > 0
        ? installedTable("transformers", version.folder, installed)
        : undefined;
    return own ?? keyTable("transformers", nearestVersion(installed, versions));
  }
  if (version.transformers !== undefined)
    return keyTable("transformers", nearestVersion(version.transformers, versions));
  const contemporary =
    compareVersions(version.text, "1.0.0") < 0 ? versions.filter((one) => one.startsWith("4.")) : versions;
  return keyTable("transformers", contemporary.at(-1) ?? "");
}
