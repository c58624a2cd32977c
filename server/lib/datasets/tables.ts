/** Files of rows that are no text: Parquet and Arrow. */
import { statSync } from "node:fs";
import type { JsonObject } from "../../../shared/lib/json.ts";
import { isParquet, parquetRows, parquetSample, parquetShape } from "../parquet.ts";
import { arrowForm, arrowRows } from "./arrow.ts";

const isArrow = (file: string): boolean => /\.arrow$/i.test(file);

export const isTable = (file: string): boolean => isParquet(file) || isArrow(file);

/** Whether a file's name says that it has rows that can be read. */
export const isRows = (file: string): boolean => isTable(file) || /\.jsonl?$/i.test(file);

/** All rows. @throws UserError where the file can't be read or is damaged */
export const tableRows = (file: string): Iterable<JsonObject> =>
  isArrow(file) ? arrowRows(file) : parquetRows(file);

/** A row of the form that all rows have, with `""` for every value; no row is read. */
export const tableForm = (file: string): JsonObject =>
  isArrow(file) ? arrowForm(file) : parquetShape(file).form;

/** Bytes of an Arrow file that a glance may cost. */
const glance = 1 << 20;

/** At most this many rows to look at, for an editor; the form alone where reading them would take long. */
export function tableSample(file: string, most: number): readonly JsonObject[] {
  if (!isArrow(file)) return parquetSample(file, most);
  return statSync(file).size <= glance ? [...arrowRows(file)].slice(0, most) : [arrowForm(file)];
}
