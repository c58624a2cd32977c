/** Keys with their defaults of trainers whose configs are written and converted, and not checked: of one release. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../../shared/lib/json.ts";
import { tablesFolder } from "./load.ts";

export type FlatName = "skyrl";

export interface FlatTable {
  readonly version: string;
  /** Dotted keys with their defaults; null: none. */
  readonly keys: JsonObject;
  /** Those below which every key is one. */
  readonly open: readonly string[];
}

const tables = new Map<FlatName, FlatTable>();

export function flatTable(name: FlatName): FlatTable {
  const known = tables.get(name);
  if (known !== undefined) return known;
  const table: FlatTable = JSON.parse(readFileSync(join(tablesFolder(), `${name}.json`), "utf8"));
  tables.set(name, table);
  return table;
}
