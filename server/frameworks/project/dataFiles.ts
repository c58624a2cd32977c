/** The data that a configuration trains on, as far as it lies on this machine: its files, and what their rows hold. */
import { readdirSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { UserError } from "../../../shared/lib/errors.ts";
import { datasetLines, hasField } from "../../core/datasetLines.ts";
import { isParquet, parquetColumn } from "../../lib/parquet.ts";

/** Rows of a file whose values are looked at. */
const looked = 10_000;
const isRows = (name: string): boolean => /\.(jsonl|parquet)$/.test(name);

/**
 * The path itself, or where it is a folder the files of rows in it or in its `data/`: those of the training split
 * where names say so, as `load_dataset(FOLDER)` takes them.
 */
export function filesOf(configuration: string, path: string): string[] {
  const place = resolve(dirname(resolve(configuration)), path);
  if (statSync(place, { throwIfNoEntry: false })?.isDirectory() !== true) return [path];
  for (const inner of [path, join(path, "data")]) {
    const folder = resolve(dirname(resolve(configuration)), inner);
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) continue;
    const files = readdirSync(folder).filter(isRows).sort();
    const train = files.filter((name) => /train/i.test(name));
    if (files.length > 0) return (train.length > 0 ? train : files).map((name) => `${inner}/${name}`);
  }
  return [path];
}

/** Whether every row that is looked at has a field; undefined where the file is not there. */
export function rowsHave(configuration: string, path: string, field: string): boolean | undefined {
  const lines = datasetLines(resolve(dirname(resolve(configuration)), path));
  if (lines === undefined || lines.length === 0) return undefined;
  return lines.every(({ row }) => row !== undefined && hasField(row, field));
}

/** The different values of a text column in the first rows; none where the file is not there or cannot be read. */
export function valuesOf(configuration: string, path: string, column: string): readonly string[] {
  const file = resolve(dirname(resolve(configuration)), path);
  const values = isParquet(file)
    ? columnOf(file, column)
    : (datasetLines(file) ?? []).map(({ row }) => row?.[column]);
  return [...new Set(values.filter((value) => typeof value === "string"))];
}

function columnOf(file: string, column: string): readonly unknown[] {
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return [];
  try {
    return parquetColumn(file, column, looked);
  } catch (error) {
    // Loading the config reports what is wrong with the file.
    if (error instanceof UserError) return [];
    throw error;
  }
}
