/** The data that a configuration trains on, as far as it lies on this machine: its files, and what their rows hold. */
import { dirname, join, resolve } from "node:path";
import { UserError } from "../../../shared/lib/errors.ts";
import { datasetLines, hasField } from "../../core/datasetLines.ts";
import { datasetFiles } from "../../lib/datasets/files.ts";
import { datasetPlace, isHubDataset } from "../../lib/datasets/name.ts";
import { isParquet, parquetColumn } from "../../lib/parquet.ts";
import { statsOf } from "../../lib/inputFile.ts";
import { relativePath, slashed } from "../../../shared/lib/slashes.ts";

/** Rows of a file whose values are looked at. */
const looked = 10_000;
/**
 * The path itself, or, where it is a folder with one file of training rows as `load_dataset(FOLDER)` finds them, that
 * file: its rows are said to be missing a column by its name.
 */
export function dataOf(configuration: string, path: string): string {
  const place = placeOf(configuration, path);
  if (isHubDataset(path) || statsOf(place)?.isDirectory() !== true) return path;
  try {
    const [first, ...others] = datasetFiles(place);
    const single = first !== undefined && others.length === 0 && !/\.arrow$/.test(first);
    return single ? slashed(join(path, relativePath(place, first))) : path;
  } catch (error) {
    // Loading the config reports what is wrong with the folder.
    if (error instanceof UserError) return path;
    throw error;
  }
}

const placeOf = (configuration: string, path: string): string =>
  datasetPlace(dirname(resolve(configuration)), path);

/** Whether every row that is looked at has a field; undefined where the file is not there. */
export function rowsHave(configuration: string, path: string, field: string): boolean | undefined {
  const lines = datasetLines(placeOf(configuration, path));
  if (lines === undefined || lines.length === 0) return undefined;
  return lines.every(({ row }) => row !== undefined && hasField(row, field));
}

/** The different values of a text column in the first rows; none where the file is not there or cannot be read. */
export function valuesOf(configuration: string, path: string, column: string): readonly string[] {
  const place = placeOf(configuration, path);
  const values = firstFiles(place).flatMap((file) =>
    isParquet(file) ? columnOf(file, column) : (datasetLines(file) ?? []).map(({ row }) => row?.[column]),
  );
  return [...new Set(values.filter((value) => typeof value === "string" && value !== ""))].map(String);
}

/** One is looked at: all have the same columns. */
function firstFiles(place: string): readonly string[] {
  try {
    return datasetFiles(place).slice(0, 1);
  } catch (error) {
    if (error instanceof UserError) return [];
    throw error;
  }
}

function columnOf(file: string, column: string): readonly unknown[] {
  if (statsOf(file)?.isFile() !== true) return [];
  try {
    return parquetColumn(file, column, looked);
  } catch (error) {
    // Loading the config reports what is wrong with the file.
    if (error instanceof UserError) return [];
    throw error;
  }
}
